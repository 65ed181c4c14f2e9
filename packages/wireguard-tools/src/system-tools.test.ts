import { expect, it } from 'vitest';
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
