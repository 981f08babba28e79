// The slider of a story: dragged, clicked, or moved by keys. Its stops are the starts of scenes, and the end.
//
// Fires `timeline:moving` while it is dragged and `timeline:moved` when let go, with {at, name}. A page that does not
// call preventDefault() on the latter is opened anew at that moment.

const SETTLE = 450; // ms without a key until a move by keyboard counts as done

export class Timeline {
  /** @param {HTMLElement} root the <section data-timeline> */
  constructor(root) {
    this.root = root;
    this.track = root.querySelector("[data-timeline-track]");
    this.thumb = root.querySelector("[data-timeline-thumb]");
    this.cells = [...root.querySelectorAll(".timeline-scene")];
    this.stops = JSON.parse(this.track.dataset.stops);
    this.place = this.settled = Number(this.track.dataset.place);
    this.waiting = 0;
    this.thumb.addEventListener("keydown", (event) => this.key(event));
    this.thumb.addEventListener("blur", () => this.settle());
    this.track.addEventListener("pointerdown", (event) => this.grab(event));
    for (const button of root.querySelectorAll("[data-timeline-step]")) {
      button.addEventListener("click", () => this.step(Number(button.dataset.timelineStep)));
    }
    new ResizeObserver(() => this.put()).observe(this.track);
    this.put();
  }

  get stop() {
    return this.stops[Math.ceil(this.place)];
  }

  /** Take over the slider of a page that the server drew for another moment. @param {HTMLElement} drawn */
  redraw(drawn) {
    const track = drawn.querySelector("[data-timeline-track]");
    const text = (part) => drawn.querySelector(`[data-timeline-${part}]`).textContent;
    this.show({
      stops: JSON.parse(track.dataset.stops),
      place: Number(track.dataset.place),
      cells: [...drawn.querySelectorAll(".timeline-scene")].map((cell) => ({ reached: cell.dataset.reached })),
      name: text("name"),
      title: text("title"),
      note: text("note"),
    });
  }

  /** Show another moment without telling anybody: after the server has moved, or refused to. */
  show({ stops, place, cells, name, title, note = "", setting = "" }) {
    this.stops = stops;
    this.place = this.settled = place;
    this.cells.forEach((cell, number) => {
      if (cells[number]?.reached) cell.dataset.reached = cells[number].reached;
      else delete cell.dataset.reached;
    });
    this.write(name, title, note || (setting && `Last: ${setting}`));
  }

  write(name, title, note) {
    this.put();
    this.root.querySelector("[data-timeline-name]").textContent = name;
    this.root.querySelector("[data-timeline-title]").textContent = title;
    this.root.querySelector("[data-timeline-note]").textContent = note;
    this.thumb.setAttribute("aria-valuenow", String(Math.ceil(this.place)));
    this.thumb.setAttribute("aria-valuetext", title ? `${name}: ${title}` : name);
  }

  back() {
    this.go(this.settled);
  }

  /** Where a place lies on the track, in pixels: cells may hold several scenes, and there are gaps between chapters. */
  pixels(place) {
    let scenes = 0;
    const left = this.track.getBoundingClientRect().left;
    for (const cell of this.cells) {
      const held = Number(cell.dataset.scenes);
      if (place <= scenes + held) {
        const box = cell.getBoundingClientRect();
        return box.left - left + (box.width * (place - scenes)) / held;
      }
      scenes += held;
    }
    return this.track.clientWidth;
  }

  nearest(x) {
    let scenes = 0;
    let best = 0;
    let distance = Infinity;
    for (const cell of this.cells) {
      const held = Number(cell.dataset.scenes);
      const box = cell.getBoundingClientRect();
      const share = Math.min(Math.max((x - box.left) / Math.max(box.width, 1), 0), 1);
      const away = Math.abs(x - (box.left + share * box.width));
      if (away < distance) {
        distance = away;
        best = scenes + Math.round(share * held);
      }
      scenes += held;
    }
    return best;
  }

  put() {
    this.thumb.style.left = `${this.pixels(this.place)}px`;
  }

  go(place) {
    this.place = Math.min(Math.max(place, 0), this.stops.length - 1);
    const { name, title } = this.stop;
    const setting = this.stops[Math.ceil(this.place) - 1]?.setting;
    this.write(name, title, setting ? `Last: ${setting}` : "");
    this.tell("timeline:moving");
  }

  step(by) {
    this.go(by > 0 ? Math.floor(this.place) + 1 : Math.ceil(this.place) - 1);
    this.soon();
  }

  /** To the start of the next chapter, or of this one, or of the one before. */
  chapter(by) {
    const starts = this.stops.flatMap((stop, place) => (place && stop.chapter === this.stops[place - 1].chapter ? [] : [place]));
    const next = by > 0 ? starts.find((start) => start > this.place) : starts.findLast((start) => start < this.place);
    this.go(next ?? (by > 0 ? this.stops.length - 1 : 0));
    this.soon();
  }

  key(event) {
    const moves = {
      ArrowLeft: () => this.step(-1),
      ArrowDown: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => this.step(1),
      PageDown: () => this.chapter(-1),
      PageUp: () => this.chapter(1),
      Home: () => { this.go(0); this.soon(); },
      End: () => { this.go(this.stops.length - 1); this.soon(); },
      Enter: () => this.settle(),
      Escape: () => this.back(),
    };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[event.key]();
  }

  grab(event) {
    if (event.button) return;
    event.preventDefault();
    this.thumb.focus({ preventScroll: true });
    this.track.setPointerCapture(event.pointerId);
    const drag = (moved) => this.go(this.nearest(moved.clientX));
    const drop = (ended) => {
      this.track.removeEventListener("pointermove", drag);
      this.track.removeEventListener("pointerup", drop);
      this.track.removeEventListener("pointercancel", drop);
      if (ended.type === "pointercancel") this.back();
      else this.settle();
    };
    this.track.addEventListener("pointermove", drag);
    this.track.addEventListener("pointerup", drop);
    this.track.addEventListener("pointercancel", drop);
    drag(event);
  }

  soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.settle(), SETTLE);
  }

  settle() {
    clearTimeout(this.waiting);
    if (this.place === this.settled) return;
    this.settled = this.place;
    if (this.tell("timeline:moved")) {
      const here = new URL(location.href);
      here.searchParams.set("at", this.stop.at);
      here.hash = "";
      location.assign(here);
    }
  }

  tell(name) {
    const { at, name: told } = this.stop;
    return this.root.dispatchEvent(new CustomEvent(name, { bubbles: true, cancelable: true, detail: { at, name: told } }));
  }
}

export const timelines = [...document.querySelectorAll("[data-timeline]")].map((root) => new Timeline(root));
