import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';

/**
 * Holds a network namespace and a mount namespace until its standard input ends, which it does when the owner closes
 * it or dies, whatever way. Then it kills whoever else is in the network namespace; the kernel removes the rest: links,
 * with their other ends, routes, and the mount. Nothing has a name outside, so nothing can be left over.
 *
 * /run is an empty folder of its own, because wireguard-go's sockets are in /run/wireguard, whatever the namespace.
 */
const holder = `
trap '' HUP INT TERM PIPE
mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/wireguard && ip link set lo up || exit
echo ready
cat > /dev/null
inode=$(stat -L -c %i /proc/$$/ns/net)
while :; do
  set -- /proc/[0-9]*/ns/net
  others=$(stat -L -c '%i %n' "$@" 2>/dev/null | sed -n "s#^$inode /proc/\\([0-9]*\\)/.*#\\1#p" | grep -vx $$)
  [ -n "$others" ] || exit 0
  kill -KILL $others 2>/dev/null
done
`;

/** How to run a program in a place. */
export type RunOptions = {
  /** What it reads from standard input. Default nothing. */
  readonly input?: string;
  readonly timeoutMs?: number;
};

/** Somewhere that has links, addresses and routes of its own, and an empty /run/wireguard. Files are everybody's. */
export interface Place {
  /**
   * Runs a program to its end.
   *
   * @returns what it wrote to standard output
   * @throws {Error} with its words if it fails, or takes longer than `timeoutMs` (10 s)
   */
  run(file: string, args: readonly string[], options?: RunOptions): Promise<string>;
  /** Starts a program; the process is the program itself. Whatever still runs when the place goes is killed. */
  spawn(file: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
  /** The command line that runs a program there, for whoever starts it by other means. */
  commandLine(file: string, args: readonly string[], cwd?: string): readonly [file: string, args: readonly string[]];
  /** The file of its network namespace, for whoever enters it by other means; it is there for as long as the place is. */
  readonly networkFile: string;
}

/** A place that this process made. */
export class Namespace implements Place {
  /** The process that holds it, by which `ip link … netns` finds it. */
  readonly pid: number;
  readonly #holder: ChildProcess;
  readonly #gone: Promise<unknown>;

  private constructor(process: ChildProcess) {
    this.#holder = process;
    this.#gone = once(process, 'exit');
    this.pid = Number(process.pid);
  }

  /** @throws {Error} with the words of unshare, mount or ip: it takes root */
  static async make(): Promise<Namespace> {
    const process = spawn('unshare', ['--net', '--mount', 'sh', '-c', holder], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Not of our process group: a Ctrl-C for the tests reaches it as the end of its input.
      detached: true,
    });
    const namespace = new Namespace(process);
    const words = text(process.stderr);
    const ready = await Promise.race([once(process.stdout, 'data'), namespace.#gone.then(() => undefined)]);
    if (ready === undefined) throw new Error(`no network namespace: ${(await words).trim()}`);
    return namespace;
  }

  get networkFile(): string {
    return `/proc/${this.pid}/ns/net`;
  }

  commandLine(
    file: string,
    args: readonly string[],
    cwd: string = process.cwd(),
  ): readonly [string, readonly string[]] {
    // Entering the mount namespace leads to its root.
    return ['nsenter', ['--target', String(this.pid), '--net', '--mount', `--wdns=${cwd}`, '--', file, ...args]];
  }

  spawn(file: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const [command, commandArgs] = this.commandLine(file, args, options.cwd?.toString());
    return spawn(command, commandArgs, options);
  }

  async run(
    file: string,
    args: readonly string[],
    { input = '', timeoutMs = 10_000 }: RunOptions = {},
  ): Promise<string> {
    const child = this.spawn(file, args, { stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' });
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes');
    // A program may end without reading all of it; its exit code then says whether that matters.
    stdin.on('error', () => {}).end(input);
    const [output, words, [code, signal]] = await Promise.all([buffer(stdout), text(stderr), once(child, 'close')]);
    if (code === 0) return output.toString('utf8');
    throw new Error(`${[file, ...args].join(' ')}: ${signal ?? `exit code ${code}`}: ${words.trim()}`);
  }

  /** Kills what runs in it and removes it. Idempotent. */
  async close(): Promise<void> {
    this.#holder.stdin?.end();
    await this.#gone;
  }
}
