// Markdown as role-players write it: *actions*, **strong**, `code`, lists and line breaks. Everything else stays text:
// no HTML, no links, no pictures, so that what a character says can load nothing and lead nowhere.

import { make } from "/static/api.js";

const FENCE = /^\s*```/;
const BULLET = /^\s{0,3}[-*+]\s+(?=\S)/;
const NUMBER = /^\s{0,3}(\d{1,4})[.)]\s+(?=\S)/;
const ESCAPED = /^\\[\\`*_]/;
const MARKS = [["***", ["strong", "em"]], ["**", ["strong"]], ["__", ["strong"]], ["*", ["em"]], ["_", ["em"]]];

/**
 * The nodes that show a text. While it is still being written, a mark that is not closed yet holds to the end.
 * @param {string} text @param {boolean} [writing] @returns {Node[]}
 */
export function markdown(text, writing = false) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks = [];
  let paragraph = [];
  const close = () => {
    if (paragraph.length) blocks.push(make("p", {}, ...inline(paragraph.join("\n"), writing)));
    paragraph = [];
  };
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    const kind = BULLET.test(line) ? BULLET : NUMBER.test(line) ? NUMBER : null;
    if (FENCE.test(line)) {
      const end = lines.findIndex((other, place) => place > index && FENCE.test(other));
      if (end < 0 && !writing) { paragraph.push(line); continue; }
      close();
      blocks.push(make("pre", {}, make("code", {}, lines.slice(index + 1, end < 0 ? undefined : end).join("\n"))));
      index = end < 0 ? lines.length : end;
    } else if (kind) {
      close();
      const items = [];
      const start = kind === NUMBER ? NUMBER.exec(line)[1] : null;
      for (; index < lines.length && kind.test(lines[index]); index += 1) items.push(make("li", {}, ...inline(lines[index].replace(kind, ""), writing)));
      index -= 1;
      blocks.push(make(start === null ? "ul" : "ol", start && start !== "1" ? { start } : {}, ...items));
    } else if (!line.trim()) close();
    else paragraph.push(line);
  }
  close();
  return blocks;
}

/** Put what Markdown means into an element whose `data-text` is the text as it was written. @param {HTMLElement} element */
export function showMarkdown(element) {
  element.replaceChildren(...markdown(element.dataset.text));
}

function inline(text, writing) {
  const nodes = [];
  let plain = "";
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = "";
  };
  for (let index = 0; index < text.length;) {
    const rest = text.slice(index);
    const found = ESCAPED.test(rest) ? null : rest[0] === "`" ? code(rest) : emphasis(rest, text[index - 1] ?? "", writing);
    if (found) {
      flush();
      nodes.push(found.node);
      index += found.length;
    } else {
      const escaped = ESCAPED.test(rest);
      plain += escaped ? rest[1] : rest[0];
      index += escaped ? 2 : 1;
    }
  }
  flush();
  return nodes;
}

function code(rest) {
  const end = rest.indexOf("`", 1);
  return end > 1 ? { node: make("code", {}, rest.slice(1, end)), length: end + 1 } : null;
}

function emphasis(rest, before, writing) {
  for (const [mark, tags] of MARKS) {
    if (!rest.startsWith(mark)) continue;
    if (!/^\S/.test(rest.slice(mark.length)) || rest[mark.length] === mark[0]) return null;
    if (mark[0] === "_" && /[\p{L}\p{N}]/u.test(before)) return null; // snake_case is a word
    const end = closing(rest, mark);
    if (end < 0 && !writing) continue;
    const inner = inline(rest.slice(mark.length, end < 0 ? undefined : end), writing);
    const node = tags.reduceRight((children, tag) => [make(tag, {}, ...children)], inner)[0];
    return { node, length: end < 0 ? rest.length : end + mark.length };
  }
  return null;
}

/** Where a mark is closed: after something that is no space, in the same paragraph. */
function closing(rest, mark) {
  for (let end = rest.indexOf(mark, mark.length + 1); end >= 0; end = rest.indexOf(mark, end + 1)) {
    if (/\s/.test(rest[end - 1]) || rest[end - 1] === "\\") continue;
    if (mark.length < 3 && rest[end + mark.length] === mark[0]) { end += mark.length; continue; } // part of a longer mark
    if (mark[0] === "_" && /[\p{L}\p{N}]/u.test(rest[end + mark.length] ?? "")) continue;
    return end;
  }
  return -1;
}
