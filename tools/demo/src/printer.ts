import { stringify } from 'yaml';
import { formatDuration } from './text/duration.ts';
import { wrap } from './text/wrap.ts';

/** Colours a text on a terminal. */
export type Paint = (format: 'bold' | 'cyan' | 'green', text: string) => string;

export type PrinterOptions = {
  /** Takes one line, without its end. */
  readonly print: (line: string) => void;
  readonly paint: Paint;
  /** Columns that a line may have. */
  readonly width: number;
  readonly signal: AbortSignal;
};

const MARGIN = '   ';
/** Aligns durations. */
const DURATION_COLUMNS = 7;

/**
 * Prints the output of the demo. After `signal` is aborted, all methods throw its reason, so a step that still runs prints
 * nothing after "Stopping".
 */
export class Printer {
  readonly #options: PrinterOptions;
  #steps = 0;

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  /** Prints a numbered heading, a paragraph, and lines. */
  step(title: string, text: string, lines?: readonly string[]): void {
    this.#steps += 1;
    this.heading(`${this.#steps}. ${title}`);
    this.say(text, lines);
  }

  heading(title: string): void {
    this.#print('', this.#options.paint('bold', title));
  }

  /** Prints a paragraph, whose line breaks count as spaces, and lines. */
  say(text: string, lines?: readonly string[]): void {
    this.#print('', ...wrap(text, this.#options.width - MARGIN.length).map((line) => `${MARGIN}${line}`));
    if (lines !== undefined) this.show(lines);
  }

  /** Prints lines as they are: a manifest, a command, a table. */
  show(lines: readonly string[]): void {
    this.#print('', ...lines.map((line) => `${MARGIN}  ${this.#options.paint('cyan', line)}`));
  }

  /** An object as `kubectl get -o yaml` shows it. */
  showYaml(object: object): void {
    this.show(stringify(object, { indentSeq: false, lineWidth: 70 }).trimEnd().split('\n'));
  }

  /** Prints a result, and how long it took. */
  result(what: string, ms: number, detail = ''): void {
    const head = `✓ ${formatDuration(ms).padStart(DURATION_COLUMNS)}  `;
    const [first = '', ...rest] = wrap(`${what}${detail}`, this.#options.width - MARGIN.length - head.length);
    const indented = rest.map((line) => `${MARGIN}${' '.repeat(head.length)}${line}`);
    this.#print('', `${MARGIN}${this.#options.paint('green', head)}${first}`, ...indented);
  }

  #print(...lines: readonly string[]): void {
    this.#options.signal.throwIfAborted();
    for (const line of lines) this.#options.print(line);
  }
}
