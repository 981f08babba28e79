// Light or dark, before the first paint: a person's own choice, else the system's. Loaded in <head>, not as a module.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // storage may be switched off
    }
  };

  function show() {
    const theme = chosen() ?? (dark.matches ? "dark" : "light");
    root.classList.toggle("dark", theme === "dark");
    root.classList.toggle("light", theme !== "dark");
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      button.setAttribute("aria-pressed", String(theme === "dark"));
    }
  }

  root.classList.add("js");
  show();
  dark.addEventListener("change", show);
  addEventListener("storage", show);
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-toggle]")) {
      try {
        localStorage.setItem("theme", root.classList.contains("dark") ? "light" : "dark");
      } catch {
        return;
      }
      show();
    }
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
})();
