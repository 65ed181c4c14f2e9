import { eventually } from '@kube-semaphore/eventually';
import { builtBinary } from '@kube-semaphore/testkit';
import { type NetworkNode, type Place, startNetwork } from '@kube-semaphore/testnet';
import { expect, it, onTestFinished } from 'vitest';
import { probeScript } from '../../src/packet-test/probe.ts';
import { kubeconfigOf } from '../support/api-server.ts';
import { startPodsCluster } from '../support/pods-cluster.ts';
import { run } from '../support/run.ts';

const DEVICE = 'wireguard';

/** A node of the cluster `c<k>`, with a Pod and a tunnel. */
type End = { readonly k: number; readonly node: NetworkNode; readonly pod: Place; readonly publicKey: string };

const podIp = (k: number): string => `10.${k}.1.10`;

async function startEnd(node: NetworkNode, k: number): Promise<End> {
  node.spawn(builtBinary('wireguard-go'), ['-f', DEVICE], { stdio: 'ignore' });
  const answers = () =>
    node.run('wg', ['show', DEVICE]).then(
      () => true,
      () => false,
    );
  await eventually(answers, true, { what: `the device of ${node.name}` });
  const key = await node.run('wg', ['genkey']);
  // Through a pipe: the input is a socket, which `wg` can't open.
  const set = `cat | wg set ${DEVICE} listen-port 51820 private-key /dev/stdin`;
  await node.run('sh', ['-c', set], { input: key });
  await node.run('ip', ['link', 'set', DEVICE, 'mtu', '1380', 'up']);
  const publicKey = (await node.run('wg', ['pubkey'], { input: key })).trim();
  return { k, node, pod: await node.addPod([podIp(k)]), publicKey };
}

async function connect({ node }: End, { k, node: { ipv4 }, publicKey }: End): Promise<void> {
  const peer = `set ${DEVICE} peer ${publicKey} endpoint ${ipv4}:51820 allowed-ips 10.${k}.1.0/24`;
  await node.run('wg', peer.split(' '));
  await node.run('ip', ['route', 'add', `10.${k}.0.0/16`, 'dev', DEVICE]);
}

/** What `semaphore test` says, without figures. */
async function test(kubeconfig: string) {
  const contexts = ['--context=c1', '--context=c2'];
  const { code, stdout } = await run('test', '--kubeconfig', kubeconfig, ...contexts, '--image=node:24');
  const lines = stdout.trimEnd().split('\n');
  return {
    code,
    rows: lines.slice(1, 3).map((row) => row.split(/ +/).slice(0, 7).join(' ')),
    failures: lines.slice(4),
  };
}

it('tells that a node replaces the address of its Pods, though all packets come through', async () => {
  const network = await startNetwork(['n1', 'm1']);
  onTestFinished(() => network.stop());
  const [near, far] = [await startEnd(network.node('n1'), 1), await startEnd(network.node('m1'), 2)];
  await connect(near, far);
  await connect(far, near);
  const [c1, c2] = [
    await startPodsCluster(podIp(1), { place: near.pod }),
    await startPodsCluster(podIp(2), { place: far.pod }),
  ];
  const kubeconfig = await kubeconfigOf({ c1: c1.url, c2: c2.url });
  const [back, forth] = ['c2 c1 pod IPv4 ✓ ✓ ✓', 'c1 c2 pod IPv4 ✓ ✓ ✓'];
  expect(await test(kubeconfig)).toEqual({ code: 0, rows: [forth, back], failures: [] });

  // The other side accepts the address of the device, as with `deviceAddress: auto`.
  await near.node.run('ip', ['address', 'add', '10.1.1.0/32', 'dev', DEVICE]);
  const input = `table ip nat {
    chain postrouting { type nat hook postrouting priority 100; ip saddr 10.1.0.0/16 ip daddr != 10.1.0.0/16 masquerade; }
  }`;
  await near.node.run('nft', ['-f', '-'], { input });
  expect(await test(kubeconfig)).toEqual({
    code: 1,
    rows: [forth.replace(/✓$/, '✗'), back],
    failures: [
      expect.stringMatching(
        /^✗ c1 to c2, \S+: arrives from 10\.1\.1\.0, not from the Pod's 10\.1\.1\.10: something replaces /,
      ),
    ],
  });
});

it('does not take the address of a sidecar for that of the caller', async () => {
  const network = await startNetwork(['n1']);
  onTestFinished(() => network.stop());
  const node = network.node('n1');
  const pod = await node.addPod([podIp(1)]);
  pod.spawn(process.execPath, ['-e', probeScript()], { stdio: 'inherit' });
  const ask = `fetch('http://${podIp(1)}:8080/', { method: 'POST', body: 'x' })
    .then(({ headers }) => console.log(headers.get('source-address')), () => console.log('away'))`;
  const sourceIn = async (place: Place): Promise<string> => (await place.run(process.execPath, ['-e', ask])).trim();
  expect(
    await eventually(
      () => sourceIn(node),
      (source) => source !== 'away',
    ),
  ).toBe('169.254.1.1');
  expect(await sourceIn(pod)).toBe('null');
});
