/** The type of a project: each package.json has one as its Nx tag. */
export type Tag = 'type:app' | 'type:cli' | 'type:lib' | 'type:pure' | 'type:test' | 'type:e2e' | 'type:tool';

/** Which projects a project may need when it runs, by tag. */
export const allowedTags: Readonly<Record<Tag, readonly Tag[]>> = {
  'type:pure': ['type:pure'],
  'type:lib': ['type:pure', 'type:lib'],
  // No client code of ours, so that client and embedded server can't share a bug.
  'type:test': ['type:pure', 'type:test'],
  // The programs run as processes; only their names are imported.
  'type:e2e': ['type:pure', 'type:test', 'type:app'],
  'type:app': ['type:pure', 'type:lib'],
  // It says what the apps will do, by their own names and decisions.
  'type:cli': ['type:pure', 'type:lib', 'type:app'],
  'type:tool': ['type:pure', 'type:lib', 'type:test', 'type:e2e', 'type:app', 'type:tool'],
};

/**
 * The arrows of docs/architecture.md between libraries: which ones each may need besides the pure packages. A library
 * without a row is reported, so that a new one gets its arrows at once.
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

/** The entries of an app that others may import: tables of data, and what a cleanup removes. */
export const appEntries: readonly string[] = ['/cleanup', '/options', '/metrics', '/names'];

/** The Node.js modules that pure packages may import: hashing and comparing are pure functions. */
export const pureBuiltins: readonly string[] = ['node:crypto', 'node:util'];

/**
 * Whether a file of an app is a pure decision: in a folder `desired` of a feature, or the app's names. Decisions import each
 * other and pure packages.
 */
export const isDecision = (path: string): boolean => /^src\/(.+\/)?desired\//.test(path) || path === 'src/names.ts';
