import { storeFlags } from './store.ts';

/** What a test leaves behind whose process is killed goes by itself. Longer than the timeout of any test. */
const MAX_LIFE_SECONDS = 3_600;

/** A file, folder or device out here that a container finds at another path. */
type Bind = { readonly source: string; readonly target: string; readonly readOnly: boolean };

/** What a container is made of. */
export type RunOptions = {
  /** Unique on this machine. */
  readonly name: string;
  readonly image: string;
  /** In the place of the image's own program. */
  readonly command?: string | undefined;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly binds?: readonly Bind[];
  /** Of all that root may do; default nothing. */
  readonly capabilities?: readonly string[];
  /** The file of the network namespace that it is in. Default this machine's. */
  readonly networkFile?: string | undefined;
};

/** What podman is told before anything else, whatever it is to do with a container. */
export const podmanFlags = (): readonly string[] => [...storeFlags(), '--runtime=runc'];

/** The words of `podman run`, which ends with the container and leaves nothing. Nothing in the container can be written. */
export function runWords({
  name,
  image,
  command,
  args = [],
  env = {},
  binds = [],
  capabilities = [],
  networkFile,
}: RunOptions): readonly string[] {
  return [
    'run',
    '--rm',
    '--pull=never',
    `--name=${name}`,
    `--timeout=${MAX_LIFE_SECONDS}`,
    `--network=${networkFile === undefined ? 'host' : `ns:${networkFile}`}`,
    // podman would make some folders writable again.
    '--read-only',
    '--read-only-tmpfs=false',
    '--security-opt=no-new-privileges',
    '--cap-drop=ALL',
    ...capabilities.map((capability) => `--cap-add=${capability}`),
    // Where the machine's own limits are lower than podman's defaults, a container doesn't start.
    '--ulimit=nofile=1024:1024',
    '--ulimit=nproc=1024:1024',
    ...Object.entries(env).map(([variable, value]) => `--env=${variable}=${value}`),
    ...binds.map(flagOf),
    ...(command === undefined ? [] : [`--entrypoint=${command}`]),
    image,
    ...args,
  ];
}

function flagOf({ source, target, readOnly }: Bind): string {
  return source.startsWith('/dev/')
    ? `--device=${source}:${target}`
    : `--volume=${source}:${target}:${readOnly ? 'ro' : 'rw'}`;
}
