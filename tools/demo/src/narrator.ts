import { formatDuration } from './text/duration.ts';
import { wrap } from './text/wrap.ts';

/** Colours a text, or doesn't. */
export type Paint = (format: 'bold' | 'cyan' | 'dim' | 'green' | 'red', text: string) => string;

/** Something that was waited for and came true, and how long that took. */
export type Milestone = { readonly what: string; readonly ms: number };

export type NarratorOptions = {
  /** Takes one line, without its end. */
  readonly print: (line: string) => void;
  readonly paint: Paint;
  /** Columns that a line may have. */
  readonly width: number;
  readonly signal: AbortSignal;
};

const MARGIN = '   ';
/** Durations stand below each other. */
const DURATION_COLUMNS = 7;

/**
 * Prints what the demo says, and remembers its milestones. Once `signal` is aborted, speaking throws its reason: a
 * scene that is still going on ends there, and nothing is said after the demo has said that it stops.
 */
export class Narrator {
  readonly milestones: Milestone[] = [];
  readonly #options: NarratorOptions;
  #scenes = 0;

  constructor(options: NarratorOptions) {
    this.#options = options;
  }

  /** Begins a scene, of which each has a number. */
  scene(title: string): void {
    this.#scenes += 1;
    this.heading(`${this.#scenes}. ${title}`);
  }

  heading(title: string): void {
    this.#print('');
    this.#print(this.#options.paint('bold', title));
  }

  /** A paragraph. Its line breaks count as spaces. */
  say(text: string): void {
    this.#print('');
    for (const line of wrap(text, this.#options.width - MARGIN.length)) this.#print(`${MARGIN}${line}`);
  }

  /** Lines as they are: a manifest, a command, a table. */
  show(lines: readonly string[]): void {
    this.#print('');
    for (const line of lines) this.#print(`${MARGIN}  ${this.#options.paint('cyan', line)}`);
  }

  /**
   * What came true, and how long it took.
   *
   * @param detail goes on after `what`, and isn't remembered
   */
  milestone(what: string, ms: number, detail = ''): void {
    this.milestones.push({ what, ms });
    const head = `✓ ${formatDuration(ms).padStart(DURATION_COLUMNS)}  `;
    const [first = '', ...rest] = wrap(`${what}${detail}`, this.#options.width - MARGIN.length - head.length);
    this.#print('');
    this.#print(`${MARGIN}${this.#options.paint('green', head)}${first}`);
    for (const line of rest) this.#print(`${MARGIN}${' '.repeat(head.length)}${line}`);
  }

  #print(line: string): void {
    this.#options.signal.throwIfAborted();
    this.#options.print(line);
  }
}
