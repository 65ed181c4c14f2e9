import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { globalNetworkSetCrd, goesWithoutKubectl, kubectlFolder } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedCluster, startEmbeddedCluster } from '../src/index.ts';

const run = promisify(execFile);

const kubectl = join(kubectlFolder ?? '', 'kubectl');

describe.skipIf(goesWithoutKubectl)('kubectl on an embedded cluster', () => {
  let cluster: EmbeddedCluster;
  beforeAll(async () => {
    cluster = await startEmbeddedCluster({ name: 'kubectl' });
    await cluster.defineResource(globalNetworkSetCrd('projectcalico.org'));
  });
  afterAll(() => cluster.stop());

  const say = async (...args: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: cluster.dir, KUBECONFIG: cluster.adminKubeconfig };
    const { stdout } = await run(kubectl, args, { env });
    return stdout.trim();
  };

  const file = async (name: string, object: unknown) => {
    const path = join(cluster.dir, name);
    await writeFile(path, JSON.stringify(object));
    return path;
  };

  const set = (nets: string[], metadata = {}) => ({
    apiVersion: 'projectcalico.org/v3',
    kind: 'GlobalNetworkSet',
    metadata: { name: 'a', ...metadata },
    spec: { nets },
  });

  it('creates, gets, labels, patches, replaces and deletes', async () => {
    const created = await file('a.json', set(['192.0.2.1/32']));
    expect(await say('create', '-f', created)).toBe('globalnetworkset.projectcalico.org/a created');
    expect(await say('get', 'globalnetworksets', '-o', 'name')).toBe('globalnetworkset.projectcalico.org/a');
    expect(await say('get', 'globalnetworkset', 'a', '-o', 'yaml')).toContain('- 192.0.2.1/32');
    await say('label', 'globalnetworkset', 'a', 'x=y');
    await say('patch', 'globalnetworkset', 'a', '--type', 'merge', '-p', '{"metadata":{"annotations":{"n":"1"}}}');
    await say(
      'patch',
      'globalnetworkset',
      'a',
      '--type',
      'json',
      '-p',
      '[{"op":"add","path":"/spec/nets/-","value":"192.0.2.2/32"}]',
    );
    const { metadata, spec } = JSON.parse(await say('get', 'globalnetworkset', 'a', '-o', 'json')) as ReturnType<
      typeof set
    >;
    expect({ metadata, spec }).toMatchObject({
      metadata: { labels: { x: 'y' }, annotations: { n: '1' } },
      spec: { nets: ['192.0.2.1/32', '192.0.2.2/32'] },
    });
    const replaced = await file(
      'b.json',
      set([], { resourceVersion: (metadata as { resourceVersion?: string }).resourceVersion }),
    );
    expect(await say('replace', '-f', replaced)).toBe('globalnetworkset.projectcalico.org/a replaced');
    await expect(say('replace', '-f', replaced)).rejects.toThrow('the object has been modified');
    expect(await say('delete', 'globalnetworkset', 'a')).toContain('"a" deleted');
    expect(await say('get', 'globalnetworksets', '-o', 'name')).toBe('');
  });

  it('works in namespaces, and lists across them', async () => {
    await say(
      'create',
      '-f',
      await file('ns.json', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }),
    );
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'app', image: 'app:1' }] },
    };
    expect(await say('-n', 'shop', 'create', '-f', await file('pod.json', pod))).toBe('pod/web created');
    expect(await say('get', 'pods', '-A')).toMatch(/shop +web/);
    expect(await say('get', 'pods', '-A', '--field-selector', 'metadata.namespace=shop', '-o', 'name')).toBe('pod/web');
    await expect(say('get', 'pod', 'web')).rejects.toThrow('pods "web" not found');
    expect(await say('delete', 'namespace', 'shop')).toContain('"shop" deleted');
    expect(await say('get', 'pods', '-A', '-o', 'name')).toBe('');
  });

  it('watches', async () => {
    const stop = new AbortController();
    const env = { PATH: process.env['PATH'], HOME: cluster.dir, KUBECONFIG: cluster.adminKubeconfig };
    const child = execFile(kubectl, ['get', 'namespaces', '-w', '-o', 'name'], { env, signal: stop.signal });
    child.on('error', () => {
      // The abort below ends this watch.
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    let output = '';
    child.stdout!.on('data', (text: string) => {
      output += text;
      if (output.includes('namespace/default'))
        void cluster.admin.request('POST', '/api/v1/namespaces', {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: 'later' },
        });
      if (output.includes('namespace/later')) resolve();
    });
    await promise;
    stop.abort();
    expect(output.trim().split('\n').at(-1)).toBe('namespace/later');
  });

  it('lists objects', async () => {
    expect((await say('api-resources', '-o', 'name')).split('\n')).toEqual(
      expect.arrayContaining([
        'pods',
        'nodes',
        'endpointslices.discovery.k8s.io',
        'globalnetworksets.projectcalico.org',
      ]),
    );
    expect(await say('version')).toContain('Server Version: v1.34.2');
  });
});
