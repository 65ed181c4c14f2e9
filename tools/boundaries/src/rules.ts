/** What a project is; each manifest carries one as its Nx tag. */
export type Tag = 'type:app' | 'type:lib' | 'type:pure' | 'type:test' | 'type:e2e' | 'type:tool';

/** Which projects a project may need when it runs, by tag. */
export const allowedTags: Readonly<Record<Tag, readonly Tag[]>> = {
  'type:pure': ['type:pure'],
  'type:lib': ['type:pure', 'type:lib'],
  // Nothing of ours that talks to an API server, so that client and embedded server can't share a bug.
  'type:test': ['type:pure', 'type:test'],
  // The whole system, by what the packages for tests have: the programs run as processes, and only their names are imported.
  'type:e2e': ['type:pure', 'type:test', 'type:app'],
  'type:app': ['type:pure', 'type:lib'],
  'type:tool': ['type:pure', 'type:lib', 'type:test', 'type:e2e', 'type:app', 'type:tool'],
};

/**
 * The arrows of docs/architecture.md between libraries: which ones each may need besides the pure packages. A library
 * without a row is reported, so that a new one gets its arrows when it is made.
 */
export const libraryArrows: Readonly<Record<string, readonly string[]>> = {
  'packages/cluster-auth': [],
  'packages/kube-client': ['packages/cluster-auth'],
  'packages/informers': ['packages/kube-client'],
  'packages/controller': [],
  'packages/leader-election': ['packages/kube-client'],
  'packages/options': [],
  'packages/runtime': ['packages/options'],
  'packages/multicluster': [
    'packages/cluster-auth',
    'packages/kube-client',
    'packages/informers',
    'packages/controller',
    'packages/leader-election',
    'packages/options',
    'packages/runtime',
  ],
  'packages/wireguard-tools': [],
};

/** What a tool may import of an app: tables of data, nothing that runs. */
export const appEntries: readonly string[] = ['/options', '/metrics', '/names'];

/** What a pure package may import of Node.js: hashing and comparing are functions of their input. */
export const pureBuiltins: readonly string[] = ['node:crypto', 'node:util'];

/** Where an app decides what should be: in pure functions, which import each other, pure packages and the app's names. */
export const DECISIONS = 'src/desired/';

/** How an app spells its objects, labels and keys: pure, as decisions are. */
export const NAMES = 'src/names.ts';
