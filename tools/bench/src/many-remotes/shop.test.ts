import { describe, expect, it } from 'vitest';
import { objectsOf, plansFor, rangeOf, Shop, type Subject, subjects, writeOf } from './shop.ts';

describe('Shop', () => {
  const countOf = (shop: Shop, subject: Subject) => shop.parts.filter((part) => part.subject === subject).length;

  it('has as many mirrors, and as many Pods for each NetworkPolicy, whatever the number of remotes', () => {
    const [few, many] = [2, 10].map((remotes) => new Shop(plansFor({ remotes, services: 3, pods: 10 })));
    for (const subject of ['mirror', 'companion'] as const)
      expect(countOf(many!, subject)).toBe(countOf(few!, subject));
    expect([few!, many!].map((shop) => countOf(shop, 'global Service'))).toEqual([6, 30]);
  });

  it('gives each remote addresses of its own range, each once', () => {
    const shop = new Shop(plansFor({ remotes: 3, services: 20, pods: 300 }));
    const all = shop.parts.flatMap(({ remote, ips }) => ips.map((ip) => ({ remote, ip })));
    expect(new Set(all.map(({ ip }) => ip)).size).toBe(all.length);
    for (const { remote, ip } of all) expect(ip.startsWith(rangeOf(remote).slice(0, 5))).toBe(true);
  });

  it('changes every part before it changes one again', () => {
    const shop = new Shop(plansFor({ remotes: 4, services: 3, pods: 8 }));
    for (const subject of subjects)
      expect(new Set(shop.some(subject, countOf(shop, subject))).size).toBe(countOf(shop, subject));
  });

  it('writes the address that replaces the oldest one', () => {
    const shop = new Shop(plansFor({ remotes: 1, services: 1, pods: 1 }));
    for (const part of shop.parts) {
      const [oldest] = part.ips;
      expect(JSON.stringify(objectsOf(part))).toContain(`"${oldest}"`);
      const address = shop.replaceAddress(part);
      const written = JSON.stringify(writeOf(part).body);
      expect(written).toContain(`"${address}"`);
      expect(written).not.toContain(`"${oldest}"`);
    }
  });
});
