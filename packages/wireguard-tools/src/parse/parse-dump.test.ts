import { parseCidr } from '@kube-semaphore/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Device, Peer } from '../device.ts';
import { parseAllDump, parseDump } from './parse-dump.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');

const key = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .filter((bytes) => bytes.some((byte) => byte > 0))
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const port = fc.nat(65_535);
const bytes = fc.nat(Number.MAX_SAFE_INTEGER);
const cidr = fc
  .oneof(
    fc.tuple(fc.ipV4(), fc.nat(32)).map(([ip, length]) => `${ip}/${length}`),
    fc.tuple(fc.ipV6(), fc.nat(128)).map(([ip, length]) => `${ip}/${length}`),
  )
  .map(parseCidr)
  .filter((parsed) => parsed.ok)
  .map((parsed) => parsed.value.text);

const peer: fc.Arbitrary<Peer> = fc.record({
  publicKey: key,
  hasPresharedKey: fc.boolean(),
  endpoint: fc.option(fc.constantFrom('10.0.0.1:51820', '[fd00::1]:1', '[fe80::1%eth0]:51820'), { nil: undefined }),
  allowedIps: fc.array(cidr, { maxLength: 3 }),
  latestHandshakeSeconds: fc.option(fc.integer({ min: 1, max: 4_000_000_000 }), { nil: undefined }),
  receivedBytes: bytes,
  sentBytes: bytes,
  keepaliveSeconds: port,
});

const device: fc.Arbitrary<Device> = fc.record({
  name: fc.constantFrom('wg0', 'wireguard.c2'),
  publicKey: fc.option(key, { nil: undefined }),
  listenPort: port,
  fwMark: fc.nat(0xffff_ffff),
  peers: fc.array(peer, { maxLength: 3 }),
});

/** As show.c of wireguard-tools prints it. */
function render({ publicKey = '(none)', listenPort, fwMark, peers }: Device): string[] {
  const privateKey = publicKey === '(none)' ? '(none)' : SECRET;
  const mark = fwMark === 0 ? 'off' : `0x${fwMark.toString(16)}`;
  return [[privateKey, publicKey, listenPort, mark].join('\t'), ...peers.map(renderPeer)];
}

function renderPeer(of: Peer): string {
  const psk = of.hasPresharedKey ? SECRET : '(none)';
  const cidrs = of.allowedIps.length === 0 ? '(none)' : of.allowedIps.join(',');
  const keepalive = of.keepaliveSeconds === 0 ? 'off' : of.keepaliveSeconds;
  const handshake = of.latestHandshakeSeconds ?? 0;
  return [of.publicKey, psk, of.endpoint ?? '(none)', cidrs, handshake, of.receivedBytes, of.sentBytes, keepalive].join(
    '\t',
  );
}

const renderAll = (devices: readonly Device[]): string =>
  devices.flatMap((of) => render(of).map((line) => `${of.name}\t${line}\n`)).join('');

describe('parseAllDump', () => {
  it('reads the output of wg for any devices', () => {
    fc.assert(
      fc.property(fc.array(device, { maxLength: 3 }), (devices) => {
        expect(parseAllDump(renderAll(devices))).toEqual({ ok: true, value: devices });
      }),
    );
  });

  it('never throws, and shows no key in its errors', () => {
    fc.assert(
      fc.property(device, fc.nat(), fc.constantFrom('\t', '\n', 'x', '', '-'), (of, place, text) => {
        const whole = renderAll([of]);
        const at = place % whole.length;
        const parsed = parseAllDump(whole.slice(0, at) + text + whole.slice(at + 1));
        expect(parsed.ok ? 'line 1: read' : parsed.reason).toMatch(/^line \d+: [^\n]+$/);
        expect(JSON.stringify(parsed)).not.toContain(SECRET);
      }),
    );
  });

  it('never throws for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseAllDump(text);
        expect(parsed.ok).toBe(text.replaceAll('\n', '') === '');
      }),
    );
  });

  const good = ['wg0', `${'a'.repeat(42)}A=`, '(none)', '(none)', '10.0.0.0/24', '0', '0', '0', 'off'];
  it.each([
    { name: 'a key', field: 1, text: 'aaaa', reason: 'public key of the peer' },
    { name: 'the allowed IPs', field: 4, text: '10.0.0.0/24,10.0.0.0/33', reason: '"33" is not a prefix length' },
    { name: 'the handshake', field: 5, text: '-1', reason: 'latest handshake' },
    { name: 'the transfer', field: 7, text: '9007199254740992', reason: 'transfer' },
    { name: 'the keepalive', field: 8, text: '65536', reason: 'keepalive' },
    { name: 'the device', field: 0, text: 'wg1', reason: 'other than the one above' },
  ])('names $name that is wrong', ({ field, text, reason }) => {
    const device = ['wg0', '(none)', '(none)', '51820', 'off'].join('\t');
    expect(parseAllDump(`${device}\n${good.join('\t')}`)).toMatchObject({ ok: true });
    const parsed = parseAllDump(`${device}\n${good.with(field, text).join('\t')}`);
    expect(parsed).toEqual({ ok: false, reason: expect.stringMatching(`^line 2: .*${reason}`) as string });
  });
});

describe('parseDump', () => {
  it('reads one device', () => {
    fc.assert(
      fc.property(device, (of) => {
        expect(parseDump(of.name, `${render(of).join('\n')}\n`)).toEqual({ ok: true, value: of });
      }),
    );
  });

  it('refuses the dump of no device or of two', () => {
    const line = '(none)\t(none)\t51820\toff\n';
    expect([parseDump('wg0', ''), parseDump('wg0', line + line)]).toMatchObject([{ ok: false }, { ok: false }]);
  });
});
