/** A program to run. Its output is appended to `log`. */
export type Component = {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly log: string;
  /**
   * The name of its own control groups, one below ours in each hierarchy. It counts as exited once everything in them is
   * killed and they are removed.
   */
  readonly cgroup?: string;
};

/** What a test process asks of its supervisor. The end of the channel means: kill everything and remove the folder. */
export type Command =
  | { readonly type: 'spawn'; readonly component: Component }
  | { readonly type: 'kill'; readonly name: string };

/** What a supervisor reports. A component that couldn't be started at all has exited, too. */
export type Report =
  | { readonly type: 'ready'; readonly dir: string }
  | { readonly type: 'exited'; readonly name: string; readonly reason: string };
