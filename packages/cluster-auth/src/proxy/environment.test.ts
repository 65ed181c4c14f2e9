import { describe, expect, it } from 'vitest';
import { proxyFor } from './environment.ts';

const HTTPS_PROXY = 'http://proxy:3128';
const proxied = 'http://proxy:3128/';

describe('proxyFor', () => {
  it.each([
    { name: 'returns none without a variable', url: 'https://host', env: {}, want: undefined },
    { name: 'uses HTTPS_PROXY', url: 'https://host', env: { HTTPS_PROXY }, want: proxied },
    {
      name: 'uses HTTP_PROXY for http:',
      url: 'http://host',
      env: { HTTP_PROXY: HTTPS_PROXY, HTTPS_PROXY: 'http://other' },
      want: proxied,
    },
    { name: 'uses HTTPS_PROXY only for https:', url: 'http://host', env: { HTTPS_PROXY }, want: undefined },
    { name: 'reads lower case', url: 'https://host', env: { https_proxy: HTTPS_PROXY }, want: proxied },
    { name: 'reads an empty variable as none', url: 'https://host', env: { HTTPS_PROXY: '' }, want: undefined },
    { name: 'uses a proxy without a scheme', url: 'https://host', env: { HTTPS_PROXY: 'proxy:3128' }, want: proxied },
  ])('$name', ({ url, env, want }) => {
    expect(proxyFor(new URL(url), env)?.href).toBe(want);
  });

  it.each([
    { name: 'everything by *', url: 'https://host', list: '*', exempt: true },
    { name: 'a name', url: 'https://api.example.com', list: 'a, api.example.com', exempt: true },
    { name: 'a name in another case', url: 'https://api.example.com', list: 'API.Example.com', exempt: true },
    { name: 'the subdomains of a name', url: 'https://api.example.com', list: 'example.com', exempt: true },
    { name: 'no name that only ends alike', url: 'https://notexample.com', list: 'example.com', exempt: false },
    { name: 'subdomains by a leading dot', url: 'https://api.example.com', list: '.example.com', exempt: true },
    { name: 'not the domain itself by a leading dot', url: 'https://example.com', list: '.example.com', exempt: false },
    { name: 'subdomains by *.', url: 'https://api.example.com', list: '*.example.com', exempt: true },
    { name: 'an address', url: 'https://10.0.0.1:6443', list: '10.0.0.1', exempt: true },
    { name: 'a CIDR', url: 'https://10.96.0.1', list: '192.168.0.0/16,10.96.0.0/12', exempt: true },
    { name: 'no name by a CIDR', url: 'https://host', list: '0.0.0.0/0', exempt: false },
    { name: 'an IPv6 address in any spelling', url: 'https://[fd00::1]', list: 'FD00:0::1', exempt: true },
    { name: 'an IPv6 CIDR', url: 'https://[fd00::1]', list: 'fd00::/8', exempt: true },
    { name: 'a name with its port', url: 'https://host:6443', list: 'host:6443', exempt: true },
    { name: 'no other port', url: 'https://host:6443', list: 'host:443', exempt: false },
    { name: 'the port that https has', url: 'https://host', list: 'host:443', exempt: true },
    { name: 'an IPv6 address with its port', url: 'https://[fd00::1]:6443', list: '[fd00::1]:6443', exempt: true },
    { name: 'this machine, always', url: 'https://127.0.0.1:6443', list: '', exempt: true },
    { name: 'this machine by its name', url: 'https://localhost', list: '', exempt: true },
    { name: 'this machine in IPv6', url: 'https://[::1]', list: '', exempt: true },
    { name: 'nothing by empty entries', url: 'https://host', list: ' ,,', exempt: false },
    { name: 'a name with any port by an empty one', url: 'https://host:6443', list: 'host:', exempt: true },
    { name: 'no address by a domain', url: 'https://10.9.8.7', list: '.9.8.7', exempt: false },
    { name: 'no IPv6 address in brackets without a port', url: 'https://[fd00::1]', list: '[fd00::1]', exempt: false },
    {
      name: 'no IPv6 address with a port without brackets',
      url: 'https://[fd00::1]',
      list: 'fd00::1:443',
      exempt: false,
    },
    { name: 'an IPv4 address in the notation of IPv6', url: 'https://10.9.8.7', list: '::ffff:10.9.8.7', exempt: true },
    { name: 'no IPv4 address by all of IPv6', url: 'https://10.9.8.7', list: '::/0', exempt: false },
    { name: 'a name in Unicode', url: 'https://bücher.example.com', list: 'bücher.example.com', exempt: true },
    { name: 'this machine in the notation of IPv6', url: 'https://[::ffff:127.0.0.1]', list: '', exempt: true },
  ])('NO_PROXY exempts $name', ({ url, list, exempt }) => {
    expect(proxyFor(new URL(url), { HTTPS_PROXY, NO_PROXY: list })).toEqual(exempt ? undefined : new URL(HTTPS_PROXY));
  });

  it('takes socks5h: for socks5:, as the proxy resolves names anyway', () => {
    expect(proxyFor(new URL('https://api.example.com'), { HTTPS_PROXY: 'socks5h://other' })?.href).toBe(
      'socks5://other',
    );
  });

  it('names the variable that holds no proxy', () => {
    expect(() => proxyFor(new URL('https://host'), { HTTPS_PROXY: 'ftp://user:secret@x' })).toThrow(
      /^HTTPS_PROXY must be/,
    );
  });
});
