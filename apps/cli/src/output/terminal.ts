import { styleText } from 'node:util';
import { printable } from '@kube-semaphore/text';

type Colour = 'green' | 'yellow' | 'red' | 'dim';

/** Where the program writes. */
export type Terminal = {
  /** Writes to stdout. */
  readonly print: (text: string) => void;
  /** Writes to stderr. */
  readonly complain: (text: string) => void;
  /** Whether a person reads stdout as it is written. */
  readonly isInteractive: boolean;
  /** `text` in a colour, if stdout shows colours. */
  readonly paint: (colour: Colour, text: string) => string;
  /** Waits for `work`; if that takes more than a second, a person sees `what` on stderr meanwhile. */
  readonly whileWaiting: <T>(what: string, work: Promise<T>) => Promise<T>;
};

/** How the program was called, where it writes, and what ends it. */
export type Invocation = {
  /** As the user called it. */
  readonly name: string;
  readonly terminal: Terminal;
  /** Aborted by an interrupt. */
  readonly signal: AbortSignal;
};

/** Writes a sentence on what failed to stderr, in the form that all errors have. */
export const complainOf = (
  { name, terminal }: Pick<Invocation, 'name'> & { readonly terminal: Pick<Terminal, 'complain'> },
  sentence: string,
): void => terminal.complain(`${name}: ${printable(sentence)}\n`);

const PROGRESS_AFTER_MS = 1_000;

/** Calls `onClosed` when the reader of stdout has seen enough, as `head` does, and closes the pipe. */
export function whenClosed({ stdout }: Pick<NodeJS.Process, 'stdout'>, onClosed: () => void): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    onClosed();
  });
}

/** The terminal of a process: colours only where stdout is one and NO_COLOR isn't set. */
export function terminalOf({ stdout, stderr, env }: Pick<NodeJS.Process, 'stdout' | 'stderr' | 'env'>): Terminal {
  const isInteractive = stdout.isTTY;
  const hasColour = isInteractive && (env['NO_COLOR'] ?? '') === '';
  return {
    print: (text) => void stdout.write(text),
    complain: (text) => void stderr.write(text),
    isInteractive,
    paint: (colour, text) => (hasColour ? styleText(colour, text, { validateStream: false }) : text),
    async whileWaiting(what, work) {
      if (!stderr.isTTY) return work;
      let isShown = false;
      const show = (): void => {
        stderr.write(`${what} …`);
        isShown = true;
      };
      const timer = setTimeout(show, PROGRESS_AFTER_MS);
      try {
        return await work;
      } finally {
        clearTimeout(timer);
        if (isShown) stderr.write('\r\u001b[K');
      }
    },
  };
}
