import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Place } from '../net/namespace.ts';
import { type Program, startProgram } from '../program/program.ts';
import { podman } from './image.ts';
import { storeFlags } from './store.ts';

/** Between attempts to remove a container that is still being made. */
const PAUSE_MS = 500;

/** What a test leaves behind whose process is killed goes by itself. */
const MAX_LIFE_SECONDS = 600;

/** How a container differs from its image, as a Pod says it. */
export type ContainerOptions = {
  readonly image: string;
  /** In the place of the image's own program. */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files and folders of this machine, by where they are in the container: read-only but for those that end in `:rw`. */
  readonly mounts?: Readonly<Record<string, string>>;
  readonly devices?: readonly string[];
  /** Of all that root may do; default nothing. */
  readonly capabilities?: readonly string[];
  /** Whose network it is in: a place, and the file of its network namespace. Default this machine's. */
  readonly network?: { readonly place: Place; readonly file: string };
};

/** A container, as the program that runs in it. */
export type Container = Program & {
  /** Removes it, whether it still runs or not. */
  readonly remove: () => Promise<void>;
};

/**
 * Starts a container in which nothing can be written, whose program has the rights that it is given and can't get
 * others, as `restricted` Pods are.
 */
export function startContainer({ image, command, args = [], env = {}, mounts = {}, devices = [], capabilities = [], network }: ContainerOptions): Container {
  const name = `kube-semaphore-${randomUUID()}`;
  const flags = [
    'run',
    '--rm',
    '--pull=never',
    `--name=${name}`,
    `--timeout=${MAX_LIFE_SECONDS}`,
    `--network=${network === undefined ? 'host' : `ns:${network.file}`}`,
    '--read-only',
    '--read-only-tmpfs=false',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
    // Where the machine's own limits are lower than podman's defaults, a container doesn't start.
    '--ulimit=nofile=1024:1024',
    '--ulimit=nproc=1024:1024',
    ...capabilities.map((capability) => `--cap-add=${capability}`),
    ...devices.map((device) => `--device=${device}`),
    ...Object.entries(env).map(([variable, value]) => `--env=${variable}=${value}`),
    ...Object.entries(mounts).map(([path, source]) => `--volume=${source.replace(/:rw$/, '')}:${path}:${source.endsWith(':rw') ? 'rw' : 'ro'}`),
    ...(command === undefined ? [] : [`--entrypoint=${command}`]),
  ];
  const program = startProgram(['podman', [...storeFlags(), '--runtime=runc', ...flags, image, ...args]], process.env, network?.place);
  return {
    ...program,
    async remove() {
      // It may not be there yet.
      const remove = () => podman(['rm', '--force', '--ignore', '--time=0', name]);
      const gone = program.exited.then(() => true);
      do await remove();
      while (!(await Promise.race([gone, delay(PAUSE_MS, false)])));
    },
  };
}
