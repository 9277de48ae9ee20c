// The form that asks for a token, on each page that needs one; `opened` is called once it was entered.
import { hasToken, keepToken } from "./service.js";

const at = (id) => document.getElementById(id);

export const tokenForm = (content, opened) => {
  at("token").onsubmit = (event) => {
    event.preventDefault();
    keepToken(at("token-value").value.trim());
    at("token-value").value = "";
    opened();
  };
  return {
    isOpen: () => !at("token").hidden,
    close: () => {
      at("token").hidden = true;
      content.hidden = false;
    },
    // After a refusal, of which `needed` says what a token must allow.
    ask: (refused, needed) => {
      at("token-why").textContent = hasToken() ? `The token was refused: ${refused.message}` : needed;
      keepToken("");
      content.hidden = true;
      at("token").hidden = false;
      at("token-value").focus();
    },
  };
};
