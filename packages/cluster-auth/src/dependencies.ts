import type { Secrets } from '@kube-semaphore/text';

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Time, in milliseconds. */
export type Clock = {
  /** For intervals: never steps back. */
  monotonicMs(): number;
  /** For the expiry of credentials: since 1970. */
  epochMs(): number;
};

/** The machine's clock. */
export const systemClock: Clock = { monotonicMs: () => performance.now(), epochMs: () => Date.now() };

/** Where a connection logs. No field and no message contains a secret. */
export type Logger = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

/** What all parts of a connection share. */
export type Dependencies = {
  readonly env: Environment;
  readonly log: Logger;
  readonly clock: Clock;
  /** Gets every credential before it is sent, so that no answer that echoes it is printed. */
  readonly secrets: Pick<Secrets, 'hold'>;
  /** Aborted when the connection is closed, with the error to reject with. */
  readonly lifetime: AbortSignal;
};
