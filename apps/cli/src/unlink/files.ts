import { knownRemotes } from '../link/files/config-files.ts';
import { CHOICES_FILE, choicesIn, withoutWritten } from '../link/choices.ts';
import { DNS_FILE, dnsFileWithout } from '../link/files/dns-file.ts';
import { remoteFile } from '../link/files/kustomize.ts';
import { COPIES, type FileChanges, type Files } from '../link/files/folder.ts';
import { valuesAfter, VALUES_FILE } from '../link/files/helm-values.ts';

const CONFIGS = ['policy.json', 'service-mirror.json', 'wireguard.json'] as const;

/** The files of an overlay without some remotes; all that `semaphore link` writes go with the last one. */
export function filesWithout(files: Files, remotes: readonly string[]): FileChanges {
  const known = knownRemotes(files).map(({ name }) => name);
  const remaining = known.filter((name) => !remotes.includes(name));
  const isLast = remaining.length === 0;
  const owned = [
    'kustomization.yaml',
    'ip-pools.yaml',
    DNS_FILE,
    CHOICES_FILE,
    ...(choicesIn(files).helm === true ? [VALUES_FILE] : []),
    ...CONFIGS,
    ...[...known, ...remotes].map(remoteFile),
    ...(typeof choicesIn(files).deploy === 'string'
      ? []
      : [...files.keys()].filter((name) => name.startsWith(`${COPIES}/`))),
  ];
  const after: Map<string, string | undefined> = new Map(
    [...files].map(([name, text]) => {
      if (isLast && owned.includes(name)) return [name, undefined];
      if (remotes.some((remote) => name === remoteFile(remote))) return [name, undefined];
      if (name === 'kustomization.yaml')
        return [
          name,
          linesWithout(
            text,
            remotes.map((remote) => `  - path: ${remoteFile(remote)}`),
          ),
        ];
      if (name === 'ip-pools.yaml') return [name, poolsWithout(text, remotes)];
      if (name === DNS_FILE) return [name, dnsFileWithout(text, { removed: remotes, remaining })];
      if (name === CHOICES_FILE) return [name, withoutWritten(text, remotes)];
      return [name, (CONFIGS as readonly string[]).includes(name) ? configWithout(text, remotes) : text];
    }),
  );
  const values = after.get(VALUES_FILE);
  if (values !== undefined && choicesIn(files).helm === true)
    after.set(VALUES_FILE, valuesAfter(values, present(after)));
  return after;
}

/** Those that stay. */
const present = (files: FileChanges): Files =>
  new Map([...files].flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])));

const linesWithout = (text: string, lines: readonly string[]): string =>
  text
    .split('\n')
    .filter((line) => !lines.includes(line))
    .join('\n');

/** `remote-c2`, and `remote-c2-2` for its second range: no cluster may be called `c2-2`, too. */
function poolsWithout(text: string, remotes: readonly string[]): string {
  const isTheirs = (pool: string): boolean => {
    const [, name = ''] = /^ {2}name: remote-(.+)$/m.exec(pool) ?? [];
    return remotes.some(
      (remote) => name === remote || (name.startsWith(remote) && /^-\d+$/.test(name.slice(remote.length))),
    );
  };
  return text
    .split('---\n')
    .filter((pool) => !isTheirs(pool))
    .join('---\n');
}

type Config = Readonly<Partial<Record<'remotes' | 'remoteClusters', readonly { readonly name: string }[]>>>;

function configWithout(text: string, names: readonly string[]): string {
  const config = JSON.parse(text) as Config;
  const rest = ({ name }: { readonly name: string }): boolean => !names.includes(name);
  const { remotes = [], remoteClusters = [] } = config;
  if (remotes.every(rest) && remoteClusters.every(rest)) return text;
  const key = config.remotes === undefined ? 'remoteClusters' : 'remotes';
  return `${JSON.stringify({ ...config, [key]: [...remotes, ...remoteClusters].filter(rest) }, undefined, 2)}\n`;
}
