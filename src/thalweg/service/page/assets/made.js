// Elements from data. Text is always text: nothing a service sends can become part of the page.
export const made = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element[key] = value;
    else if (value === true) element.setAttribute(key, "");
    else if (value != null && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
};
