// What moving a chat through the story has changed, shown below what was said.

import { make } from "/static/api.js";

const SHOWN = 4; // changes that are seen at once

/**
 * @param {HTMLElement} place @param {{when: string, difference: any[]}} answer
 * @param {(() => void) | null} repeat asks the last question again
 */
export function moved(place, answer, repeat) {
  const cards = answer.difference.map((one) => {
    const lines = [
      ...one.now.map((text) => make("li", { dir: "auto" }, text)),
      ...one.no_longer.map((text) => make("li", { class: "gone soft", dir: "auto" }, make("span", { class: "sr-only" }, "No longer: "), text)),
    ];
    const more = lines.splice(SHOWN);
    return make(
      "div",
      { class: "difference-card" },
      make("h2", { class: "label" }, `${one.character}, ${answer.when}`),
      lines.length > 0 && make("ul", { class: "stack tight" }, ...lines),
      more.length > 0 && make("details", {}, make("summary", { class: "small" }, `${more.length} more`), make("ul", { class: "stack tight" }, ...more)),
      make("p", { class: "small soft" }, told(one)),
    );
  });
  if (repeat && cards.length) {
    const again = make("button", { class: "button small", type: "button" }, "Ask the last question again, here");
    again.addEventListener("click", repeat);
    cards.push(make("p", { class: "row" }, again));
  }
  place.replaceChildren(...cards);
  place.hidden = !cards.length;
  place.classList.add("stack");
  if (cards.length) place.scrollIntoView({ block: "nearest" });
}

function told(one) {
  const lines = `${one.lines} line${one.lines === 1 ? "" : "s"} said in the story by now.`;
  if (one.later) return `${lines} ${one.later} thing${one.later === 1 ? "" : "s"} that held where you came from ${one.later === 1 ? "is" : "are"} still to come.`;
  return one.now.length || one.no_longer.length ? lines : `${lines} Nothing about them has changed.`;
}
