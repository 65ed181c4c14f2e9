import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ROOT = '/sys/fs/cgroup';
const POLL_MS = 20;

/** A script for `sh -c`: it enters the groups in its first arguments, up to `--`, and becomes the program after that. */
const ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit; shift; done; shift; exec "$@"';

/** A hierarchy of cgroup v1, or the one of v2 beside them: the name of its folder, and the path of our group in it. */
type Hierarchy = { readonly name: string; readonly path: string };

/** The hierarchies of a `/proc/PID/cgroup`, by the names of their folders: `memory`, `systemd`, `unified`. */
export function hierarchiesIn(text: string): readonly Hierarchy[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, controllers = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      return { name: controllers === '' ? 'unified' : controllers.replace(/^name=/, ''), path };
    });
}

/**
 * Makes a control group below our own in each hierarchy, so that our limits still apply.
 *
 * @returns their folders
 * @throws {Error} if cgroup v1 has no memory controller: with cgroup v2 alone, a kubelet in a namespace doesn't start
 */
export function makeCgroups(name: string): readonly string[] {
  const mounted = readdirSync(ROOT);
  const hierarchies = hierarchiesIn(readFileSync('/proc/self/cgroup', 'utf8')).filter((each) =>
    mounted.includes(each.name),
  );
  if (!hierarchies.some((each) => each.name === 'memory')) {
    throw new Error(`${ROOT} has no memory controller of cgroup v1`);
  }
  return hierarchies.map((each) => {
    const parent = join(ROOT, each.name, each.path);
    const folder = join(parent, name);
    mkdirSync(folder);
    if (each.name === 'cpuset') inheritCpus(parent, folder);
    return folder;
  });
}

/** A new group of cpuset has neither CPUs nor memory, and accepts no process without. */
function inheritCpus(parent: string, folder: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    writeFileSync(join(folder, file), readFileSync(join(parent, file)));
  writeFileSync(join(folder, 'cgroup.clone_children'), '1');
}

/** The command line of a process that enters control groups and becomes a program. */
export function enterCgroups(
  cgroups: readonly string[],
  file: string,
  args: readonly string[],
): readonly [string, readonly string[]] {
  return cgroups.length === 0 ? [file, args] : ['/bin/sh', ['-c', ENTER, 'sh', ...cgroups, '--', file, ...args]];
}

/** Removes control groups with all that are below them, and kills what still runs there. */
export async function removeCgroups(cgroups: readonly string[]): Promise<void> {
  for (const folder of cgroups) while (!isRemoved(folder)) await delay(POLL_MS);
}

function isRemoved(folder: string): boolean {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !isRemoved(join(folder, entry.name))) return false;
    }
    for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) {
      process.kill(Number(pid), 'SIGKILL');
    }
    rmdirSync(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Already removed.
    if (code === 'ENOENT') return true;
    // A killed process takes a moment to end, or has ended meanwhile.
    if (code === 'EBUSY' || code === 'ENODEV' || code === 'ESRCH') return false;
    throw error;
  }
}
