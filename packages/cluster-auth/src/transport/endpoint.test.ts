import { describe, expect, it } from 'vitest';
import { authorityOf, hostOf, parseProxy, parseServer, portOf, redacted } from './endpoint.ts';

describe('parseServer', () => {
  it.each([
    { name: 'keeps a host and a port', raw: 'https://api.example.com:6443', want: 'https://api.example.com:6443/' },
    {
      name: 'keeps a path',
      raw: 'https://rancher.example.com/k8s/clusters/c-1',
      want: 'https://rancher.example.com/k8s/clusters/c-1',
    },
    {
      name: 'drops slashes at the end',
      raw: 'https://rancher.example.com/k8s//',
      want: 'https://rancher.example.com/k8s',
    },
    { name: 'defaults to https for an address', raw: '10.0.0.1:6443', want: 'https://10.0.0.1:6443/' },
    { name: 'defaults to https for a name', raw: 'localhost:6443', want: 'https://localhost:6443/' },
    { name: 'accepts http on this machine', raw: 'http://127.0.0.1:8001', want: 'http://127.0.0.1:8001/' },
    { name: 'accepts http on this machine by IPv6', raw: 'http://[::1]:8001', want: 'http://[::1]:8001/' },
    {
      name: 'accepts http on localhost',
      raw: 'http://localhost:8001/api-proxy',
      want: 'http://localhost:8001/api-proxy',
    },
    { name: 'accepts IPv6', raw: 'https://[FD00::1]:6443', want: 'https://[fd00::1]:6443/' },
  ])('$name', ({ raw, want }) => {
    expect(parseServer(raw, 'server').href).toBe(want);
  });

  it.each([
    {
      name: 'refuses http',
      raw: 'http://10.0.0.1:8080',
      want: 'server must be an https: URL, not http: (http: only works for localhost and 127.0.0.1), as credentials need TLS',
    },
    {
      name: 'refuses http to a name that looks like this machine',
      raw: 'http://127.0.0.1.example.com',
      want: 'server must be an https: URL',
    },
    { name: 'refuses a socket', raw: 'unix:///run/api', want: 'server is not a URL' },
    { name: 'refuses an empty text', raw: '', want: 'server is not a URL' },
    {
      name: 'refuses a user',
      raw: 'https://admin:secret@host',
      want: 'server must have only a host, a port and a path',
    },
    { name: 'refuses a query', raw: 'https://host?a=b', want: 'server must have only a host, a port and a path' },
  ])('$name', ({ raw, want }) => {
    expect(() => parseServer(raw, 'server')).toThrow(expect.objectContaining({ code: 'CLUSTER_ADDRESS' }));
    expect(() => parseServer(raw, 'server')).toThrow(want);
    expect(() => parseServer(raw, 'server')).not.toThrow('secret');
  });
});

describe('parseProxy', () => {
  it.each([
    { name: 'accepts http', raw: 'http://proxy:3128', want: 'http://proxy:3128/' },
    { name: 'accepts https', raw: 'https://proxy', want: 'https://proxy/' },
    { name: 'defaults to http, as in Go', raw: 'proxy:3128', want: 'http://proxy:3128/' },
  ])('$name', ({ raw, want }) => {
    expect(parseProxy(raw, 'proxy-url').href).toBe(want);
  });

  it('refuses a password that can not be decoded', () => {
    expect(() => parseProxy('http://user:secret%@proxy', 'proxy-url')).toThrow(
      'proxy-url has a % in its user name or password that begins no escape',
    );
  });

  it('names the supported schemes, and not the password', () => {
    const parse = () => parseProxy('ftp://user:secret@proxy', 'proxy-url');
    expect(parse).toThrow('proxy-url must be an http:, https: or socks5: URL, not ftp:');
  });
});

describe('the parts of a URL', () => {
  it('have IPv6 without brackets for sockets, and with brackets in an authority', () => {
    const url = new URL('https://[fd00::1]:6443');
    expect(hostOf(url)).toBe('fd00::1');
    expect(authorityOf(hostOf(url), portOf(url))).toBe('[fd00::1]:6443');
  });

  it.each([
    { name: 'https has 443', url: 'https://host', want: 443 },
    { name: 'http has 80', url: 'http://host', want: 80 },
    { name: 'socks5 has 1080', url: 'socks5://host', want: 1080 },
  ])('$name', ({ url, want }) => {
    expect(portOf(new URL(url))).toBe(want);
  });

  it('keeps users, passwords and queries out of messages', () => {
    expect(redacted(new URL('https://user:secret@host:1/ca.crt?token=secret'))).toBe('https://host:1/ca.crt');
  });
});
