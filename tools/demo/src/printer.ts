import { stringify } from 'yaml';
import { formatDuration } from './text/duration.ts';
import { wrap } from './text/wrap.ts';

/** Colours a text, or doesn't. */
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
/** Durations stand below each other. */
const DURATION_COLUMNS = 7;

/**
 * Prints what the demo says, and remembers the results. Once `signal` is aborted, all methods throw its reason: a step
 * that still runs ends there, and prints nothing after the demo has said that it stops.
 */
export class Printer {
  /** What came true, and how long it took. */
  readonly results: { readonly what: string; readonly ms: number }[] = [];
  readonly #options: PrinterOptions;
  #steps = 0;

  constructor(options: PrinterOptions) {
    this.#options = options;
  }

  /** A heading with the number of the step, what it is about, and lines for that. */
  step(title: string, text: string, lines?: readonly string[]): void {
    this.#steps += 1;
    this.heading(`${this.#steps}. ${title}`);
    this.say(text, lines);
  }

  heading(title: string): void {
    this.#print('', this.#options.paint('bold', title));
  }

  /** A paragraph, and lines that it is about. Its line breaks count as spaces. */
  say(text: string, lines?: readonly string[]): void {
    this.#print('', ...wrap(text, this.#options.width - MARGIN.length).map((line) => `${MARGIN}${line}`));
    if (lines !== undefined) this.show(lines);
  }

  /** Lines as they are: a manifest, a command, a table. */
  show(lines: readonly string[]): void {
    this.#print('', ...lines.map((line) => `${MARGIN}  ${this.#options.paint('cyan', line)}`));
  }

  /** An object as `kubectl get -o yaml` shows it. */
  showYaml(object: object): void {
    this.show(stringify(object, { indentSeq: false, lineWidth: 70 }).trimEnd().split('\n'));
  }

  /**
   * What came true, and how long it took.
   *
   * @param detail goes on after `what`, and isn't remembered
   */
  result(what: string, ms: number, detail = ''): void {
    this.results.push({ what, ms });
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
