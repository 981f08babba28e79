// What a person has entered is not lost: drafts stand in the tab's storage, and answers are sent until they are saved.
import { Problem } from "/static/api.js";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
export const TIMEOUT_MS = 20_000;
/** What passes by itself: no connection, a timeout, too many requests, a server that is being started again, a busy disk. */
const PASSING = new Set([0, 408, 429, 502, 503, 504, 507]);

export const isPassing = (error) => error instanceof Problem && PASSING.has(error.status);

/** A pause that ends early where the browser finds its connection again. */
function pause(delay) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, delay);
    addEventListener("online", done);
  });
}

/**
 * Do it until it is done or refused; `waiting` is told of each failure that may pass.
 * @template T @param {() => Promise<T>} work @param {(error: Error) => void} waiting @param {AbortSignal} [signal]
 */
export async function untilDone(work, waiting, signal) {
  for (let delay = FIRST_WAIT_MS; ; delay = Math.min(2 * delay, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || signal?.aborted) throw error;
      waiting(error);
      await pause(delay);
      if (signal?.aborted) throw error;
    }
  }
}

/** Texts in the storage of this tab; where storage is switched off they last as long as the page. */
export class TabStorage {
  #unsaved = new Map();

  /** @param {string} prefix */
  constructor(prefix) {
    this.prefix = prefix;
  }

  get(name) {
    try {
      return JSON.parse(sessionStorage.getItem(this.prefix + name));
    } catch {
      return this.#unsaved.get(name) ?? null;
    }
  }

  set(name, value) {
    try {
      sessionStorage.setItem(this.prefix + name, JSON.stringify(value));
    } catch {
      this.#unsaved.set(name, value);
    }
  }

  remove(name) {
    this.#unsaved.delete(name);
    try {
      sessionStorage.removeItem(this.prefix + name);
    } catch {
      // there was none
    }
  }

  /** Everything of this participant. */
  clear() {
    this.#unsaved.clear();
    try {
      for (const key of Object.keys(sessionStorage)) if (key.startsWith(this.prefix)) sessionStorage.removeItem(key);
    } catch {
      // there was none
    }
  }
}

/** How long an item has been before somebody's eyes: time in a hidden tab does not count. */
export class ReadingTime {
  #since = document.hidden ? null : performance.now();

  constructor(seconds = 0) {
    this.before = seconds;
    this.listener = () => {
      this.before = this.seconds;
      this.#since = document.hidden ? null : performance.now();
    };
    document.addEventListener("visibilitychange", this.listener);
  }

  get seconds() {
    return this.before + (this.#since === null ? 0 : (performance.now() - this.#since) / 1000);
  }

  stop() {
    document.removeEventListener("visibilitychange", this.listener);
  }
}
