import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { TIMEOUT_MS } from '@kube-semaphore/eventually';

/**
 * Holds a network namespace and a mount namespace until its standard input ends, which it does when the owner closes
 * it or dies. Then it kills all processes in the network namespace, and the kernel removes the rest: links
 * with their other ends, routes, and the mount. Nothing has a name outside, so nothing can be left.
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
  /** Its standard input. Default: empty. */
  readonly input?: string;
  readonly timeoutMs?: number;
};

/** A place with its own links, addresses, routes, and /run/wireguard. All other files are shared. */
export interface Place {
  /**
   * Runs a program to its end.
   *
   * @returns its standard output
   * @throws {Error} with its stderr if it fails, or takes longer than `timeoutMs` ({@link TIMEOUT_MS})
   */
  run(file: string, args: readonly string[], options?: RunOptions): Promise<string>;
  /** Starts a program; the process is the program itself. The end of the place kills it. */
  spawn(file: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
  /** The command line that runs a program there, for callers that start it themselves. */
  commandLine(file: string, args: readonly string[], cwd?: string): readonly [file: string, args: readonly string[]];
  /** The file of its network namespace, which exists as long as the place. */
  readonly networkFile: string;
}

/** A place that this process made. */
export class Namespace implements Place {
  /** The pid of the process that holds it, for `ip link … netns`. */
  readonly pid: number;
  readonly #holder: ChildProcess;
  readonly #gone: Promise<unknown>;

  private constructor(process: ChildProcess) {
    this.#holder = process;
    this.#gone = once(process, 'exit');
    this.pid = Number(process.pid);
  }

  /** @throws {Error} with the message of unshare, mount or ip; needs root */
  static async make(): Promise<Namespace> {
    const process = spawn('unshare', ['--net', '--mount', 'sh', '-c', holder], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // In another process group: after a Ctrl-C, the end of its input ends it.
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
    // Entering the mount namespace changes the folder to its root.
    return ['nsenter', ['--target', String(this.pid), '--net', '--mount', `--wdns=${cwd}`, '--', file, ...args]];
  }

  spawn(file: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const [command, commandArgs] = this.commandLine(file, args, options.cwd?.toString());
    return spawn(command, commandArgs, options);
  }

  async run(
    file: string,
    args: readonly string[],
    { input = '', timeoutMs = TIMEOUT_MS }: RunOptions = {},
  ): Promise<string> {
    const child = this.spawn(file, args, { stdio: 'pipe', timeout: timeoutMs, killSignal: 'SIGKILL' });
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes');
    // A program may end without reading all its input; its exit code says whether that is an error.
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
