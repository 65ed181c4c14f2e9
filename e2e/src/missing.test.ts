import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { missing } from './missing.ts';

const programs = ['containerd', 'runc', 'podman', 'tcpdump', 'ipset', 'nft'];

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A machine with these programs, each of which fails, and with nothing that was built. */
function machineWith(names: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'missing-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of names) writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  vi.stubEnv('PATH', folder);
  vi.stubEnv('XDG_CACHE_HOME', folder);
  vi.stubEnv('KUBEBUILDER_ASSETS', '');
}

it('names programs that are not there, and how to build the others', async () => {
  machineWith([]);
  const names = await missing();
  expect(names[0]).toMatch(/^not built yet: etcd, kube-apiserver, .*"npm run binaries -- --engines"/);
  expect(names).toEqual(expect.arrayContaining(programs));
});

it('names the images when podman does not know them', async () => {
  machineWith(programs);
  const names = await missing();
  expect(names.at(-1)).toMatch(/^the images, which "npm run images" builds/);
  expect(names).not.toEqual(expect.arrayContaining(['containerd']));
});
