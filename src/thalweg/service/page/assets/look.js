// Colours are the style sheet's own variables, read anew when the theme changes.
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

export const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
export const font = (size) => `${size}px ${getComputedStyle(document.body).fontFamily}`;

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

// `changed` is called whenever the colours did.
export const switchable = (button, changed) => {
  const named = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.onclick = () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    named();
    changed();
  };
  system.addEventListener("change", () => {
    named();
    changed();
  });
  named();
};
