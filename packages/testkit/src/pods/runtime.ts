import type { Place } from '@kube-semaphore/testnet';
import type { Bind } from '../containers/run.ts';
import type { SecurityContext } from '../containers/security.ts';

/** A container that is to run: all that its Pod and its node say of it. */
export type ContainerStart = {
  readonly image: string;
  /** In place of the image's entrypoint. */
  readonly command: readonly string[] | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly binds: readonly Bind[];
  readonly security: SecurityContext;
  /** The network that it runs in. */
  readonly place: Place;
  /** What it calls itself; undefined for what the machine is called, as in a Pod in its node's network. */
  readonly hostname: string | undefined;
};

/** A command line that is the container: it gets the container's signals, and ends when that does. */
export type CommandLine = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command line that runs words as if in the container, while its process is `pid`. */
  readonly exec: (pid: number, words: readonly string[]) => readonly [file: string, args: readonly string[]];
  /** Ends and removes what a SIGKILL of the command line doesn't reach. @param ended resolves when the command line has ended */
  readonly remove?: (ended: Promise<unknown>) => Promise<void>;
};

/** What runs containers: says how to start one. @throws {Error} if it doesn't know the image */
export type Runtime = (start: ContainerStart) => CommandLine;
