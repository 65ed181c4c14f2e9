import { expect, it } from 'vitest';
import { WireGuardToolsError } from './errors.ts';
import { systemTools } from './system-tools.ts';

const { signal } = new AbortController();

it('adds an address that is never a source with the scope of the host', async () => {
  const calls: string[] = [];
  const tools = systemTools((file, args) => {
    calls.push([file, ...args].join(' '));
    return Promise.resolve('');
  });
  await tools.addAddress('wg0', { ip: '169.254.115.1', prefixLength: 32, isSilent: true }, { signal });
  await tools.addAddress('wg0', { ip: '10.4.1.1', prefixLength: 32 }, { signal });
  expect(calls).toEqual(['ip address add 169.254.115.1/32 dev wg0 scope host', 'ip address add 10.4.1.1/32 dev wg0']);
});

it.each([
  { name: 'what a router has answered', route: [{ dev: 'eth0', metrics: [{ mtu: 1400 }] }], want: 1400 },
  { name: 'that of the link', route: [{ dev: 'eth0', flags: [] }], want: 1500 },
])('knows the MTU of a path: $name', async ({ route, want }) => {
  const tools = systemTools((_, args) =>
    Promise.resolve(JSON.stringify(args.includes('route') ? route : [{ mtu: 1500 }])),
  );
  expect(await tools.pathMtu('192.0.2.1', { signal })).toBe(want);
});

it('knows no MTU of a path that no route leads to, or whose link is gone', async () => {
  const gone = systemTools((_, args) =>
    args.includes('route')
      ? Promise.resolve('[{"dev":"eth0"}]')
      : Promise.reject(new WireGuardToolsError('WG_NO_DEVICE', 'gone')),
  );
  expect(await gone.pathMtu('192.0.2.1', { signal })).toBeUndefined();
  const unreachable = systemTools(() => Promise.reject(new WireGuardToolsError('WG_NO_ROUTE', 'unreachable')));
  expect(await unreachable.pathMtu('192.0.2.1', { signal })).toBeUndefined();
});

it.each(['[]', '[{}]', '[{"dev":"eth0","metrics":{}}]', 'x'])('reads no path from %s', async (text) => {
  await expect(systemTools(() => Promise.resolve(text)).pathMtu('192.0.2.1', { signal })).rejects.toMatchObject({
    code: 'WG_OUTPUT',
  });
});

it('reads how the kernel checks the way back', async () => {
  expect([0, 1, 2]).toContain(await systemTools().reversePathFilter('all'));
});

it('says which device has no such check', async () => {
  await expect(systemTools().reversePathFilter('no.such.device')).rejects.toMatchObject({
    code: 'WG_FAILED',
    message: expect.stringMatching(/^rp_filter of no\.such\.device: .*ENOENT/),
  });
  await expect(systemTools().setReversePathFilter('no.such.device', 2)).rejects.toMatchObject({ code: 'WG_FAILED' });
});
