import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseHostPort } from './host-port.ts';

describe('parseHostPort', () => {
  it.each([
    { name: 'reads a bare port as every address', raw: ':8080', want: { host: '', port: 8080 } },
    { name: 'accepts port 0', raw: '127.0.0.1:0', want: { host: '127.0.0.1', port: 0 } },
    { name: 'removes the brackets of IPv6', raw: '[::1]:8080', want: { host: '::1', port: 8080 } },
    { name: 'spells IPv6 canonically', raw: '[FD00:0::1]:8080', want: { host: 'fd00::1', port: 8080 } },
    { name: 'accepts a name', raw: 'LocalHost:65535', want: { host: 'localhost', port: 65_535 } },
  ])('$name', ({ raw, want }) => {
    expect(parseHostPort(raw)).toEqual({ ok: true, value: want });
  });

  it.each([
    { name: 'refuses a port without its colon', raw: '8080' },
    { name: 'refuses a host without a port', raw: 'localhost' },
    { name: 'refuses an empty port', raw: 'localhost:' },
    { name: 'refuses a port that is too large', raw: ':65536' },
    { name: 'refuses a named port', raw: ':http' },
    { name: 'refuses a leading zero', raw: ':08080' },
    { name: 'refuses a negative port', raw: ':-1' },
    { name: 'refuses IPv6 without brackets', raw: '::1:8080' },
    { name: 'refuses IPv4 in brackets', raw: '[127.0.0.1]:8080' },
    { name: 'refuses a bad IPv4 address', raw: '127.0.0.256:8080' },
    { name: 'refuses an invalid host name', raw: 'my_host:8080' },
    { name: 'refuses a URL', raw: 'http://localhost:8080' },
  ])('$name', ({ raw }) => {
    expect(parseHostPort(raw)).toMatchObject({ ok: false });
  });

  it('accepts any IPv4 address and port', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.nat(65_535), (host, port) => {
        expect(parseHostPort(`${host}:${port}`)).toEqual({ ok: true, value: { host, port } });
      }),
    );
  });
});
