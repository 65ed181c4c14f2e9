import { describe, expect, it } from 'vitest';
import { parseDestination, parseSource } from './words.ts';

const web = { context: 'c2', namespace: 'shop', name: 'web', port: undefined, zone: undefined };

describe('a destination', () => {
  it.each([
    { text: 'c2/shop/web', want: web },
    { text: 'c2/shop/web:http', want: { ...web, port: 'http' } },
    { text: 'arn:aws:eks:x:cluster/c2/shop/web:80', want: { ...web, context: 'arn:aws:eks:x:cluster/c2', port: '80' } },
    { text: 'c2/shop/web:53/udp', want: { ...web, port: '53', protocol: 'UDP' } },
    { text: 'c2/shop/pod/web:80', want: { ...web, kind: 'pod', port: '80' } },
    { text: 'a/c2/shop/deployment/web', want: { ...web, context: 'a/c2', kind: 'deployment' } },
    { text: 'c2/pod/web', want: { ...web, namespace: 'pod' } },
    { text: 'c2/namespace/shop:80', want: { ...web, name: '', kind: 'namespace', port: '80' } },
    {
      text: 'a/c2/10.4.0.9:80',
      want: { ...web, context: 'a/c2', namespace: '', name: '', ip: '10.4.0.9', port: '80' },
    },
    { text: 'c2/[fd00::9]:80', want: { ...web, namespace: '', name: '', ip: 'fd00::9', port: '80' } },
    { text: 'c2/fd00::9', want: { ...web, namespace: '', name: '', ip: 'fd00::9' } },
    { text: 'web.shop.svc.cluster.c2', want: { ...web, zone: 'mirror' } },
    { text: 'web.shop.svc.cluster.c2.:80', want: { ...web, zone: 'mirror', port: '80' } },
    { text: 'web.shop.svc.cluster.global', want: { ...web, context: 'c3', zone: 'global' } },
    { text: 'web.shop.svc.clusterset.local', want: { ...web, context: 'c3', zone: 'import' } },
  ])('is read from $text', ({ text, want }) => {
    expect(parseDestination(text, 'c3')).toEqual(want);
  });

  it.each([
    { text: 'web', want: 'is not a Service, Pod or DNS name' },
    { text: 'c2//web', want: 'is not a Service, Pod or DNS name' },
    { text: 'c2/shop/', want: 'is not a Service, Pod or DNS name' },
    { text: 'c2//pod/web', want: 'is not a Service, Pod or DNS name' },
    { text: 'namespace/shop', want: 'is not a Service, Pod or DNS name' },
    { text: '10.4.0.9', want: 'is not a Service, Pod or DNS name' },
    { text: 'web.shop.svc.cluster.global', want: 'choose one with --to-context' },
  ])('is refused: $text', ({ text, want }) => {
    expect(() => parseDestination(text, undefined)).toThrow(want);
  });
});

it('refuses a source that is not a Pod', () => {
  expect(() => parseSource('shop/cart')).toThrow('use context/namespace/pod');
});
