import { describe, expect, it } from 'vitest';
import { mustParseCidr } from '@kube-semaphore/net';
import { linkedCluster } from '../../test/support/linked-cluster.ts';
import { choicesText } from '../link/choices.ts';
import { usedOf } from '../link/findings/families.ts';
import type { Cluster } from '../link/findings/findings.ts';
import type { Files } from '../link/files/folder.ts';
import { limitsOf } from '../link/findings/limits.ts';
import { overlayOf } from '../link/files/overlay.ts';
import { filesWithout } from './files.ts';

const cluster = (name: string): Cluster =>
  linkedCluster(name, { podCidrs: ['10.4.0.0/16', 'fd00:4::/48'].map(mustParseCidr) });

/** With values for Helm, too. */
const linked = (...names: readonly string[]): Files => {
  const [own, remotes] = [cluster('c1'), names.map((name) => usedOf(cluster(name), [4, 6]))];
  const choices = { helm: true };
  const files = overlayOf(own, {
    remotes,
    existing: new Map(),
    choices,
    version: '0.1.0',
    deploy: (folder) => `deploy/${folder}`,
  });
  return files.set('link.json', choicesText(choices, '', { written: limitsOf(own, remotes) }));
};

const present = (files: ReadonlyMap<string, string | undefined>) =>
  Object.fromEntries([...files].filter(([, text]) => text !== undefined));

/** Its own ports would be others. */
const withoutPorts = (files: object): unknown =>
  JSON.parse(JSON.stringify(files).replaceAll(/wgListenPort(\\")?: \d+/g, 'wgListenPort'));

describe('the files of an overlay without a remote', () => {
  it('are those of a link without it', () => {
    const after = filesWithout(linked('c2', 'c20', 'c3'), ['c2', 'c9']);
    expect(withoutPorts(present(after))).toEqual(withoutPorts(Object.fromEntries(linked('c20', 'c3'))));
    expect(after.has('remote-c2.yaml')).toBe(true);
  });

  it('stay if they do not have it', () => {
    const files = linked('c3');
    expect(filesWithout(files, ['c2'])).toEqual(files);
  });

  it('all go with the last one, except for what a user added', () => {
    const files = new Map([...linked('c2', 'c3'), ['notes.md', 'mine']]);
    expect(present(filesWithout(files, ['c2', 'c3']))).toEqual({ 'notes.md': 'mine' });
  });
});
