import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@kube-semaphore/eventually';
import { goesWithoutKubectl, kubectlFolder } from '@kube-semaphore/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { DemoProcess } from './demo-process.ts';

/** A PATH of a machine on which no tunnel is possible, as it has no device, and nothing but kubectl. */
async function pathWithoutDevices(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'demo-path-'));
  onTestFinished(() => rm(path, { recursive: true }));
  const wg = '#!/bin/sh\n[ "$2" = all ] || { echo "Unable to access interface: No such device" >&2; exit 1; }\n';
  await writeFile(join(path, 'wg'), wg, { mode: 0o755 });
  await writeFile(join(path, 'ip'), '#!/bin/sh\necho "[]"\n', { mode: 0o755 });
  return path;
}

const env = { ...process.env, PATH: [kubectlFolder, process.env['PATH']].join(delimiter) };

it.skipIf(goesWithoutKubectl)(
  'continues with --keep without tunnels, and the commands that it prints work',
  async () => {
    const demo = await DemoProcess.start(['--keep'], { PATH: await pathWithoutDevices() });
    await demo.says('Your turn');
    // The metrics of the three apps come last.
    await eventually(() => demo.output.split('/metrics\n').length - 1, 3);
    expect(demo.output).toMatch(/✓ .* the agent would do this here\n/);
    expect(demo.output).toMatch(/create {2}device {6}wireguard\.c2 {2}port 51820, /);
    expect(demo.output).toMatch(
      /create {2}peer {8}\S{44} {2}n2 {2}192\.0\.2\.2:51820 {2}10\.2\.1\.0\/24 {2}fd00:10:2:0:1::\/80\n/,
    );
    const invitation = demo.output.slice(demo.output.indexOf('Your turn')).split('\n');
    const shown = invitation.filter((line) => line.startsWith('     '));
    const { stdout } = await promisify(execFile)('sh', ['-ec', shown.join('\n')], { env });
    expect(stdout).toContain('name: c2-shop-checkout');
    expect(stdout).toContain('semaphore_policy_remote_up{remote="c1"} 1');
    // It is shown, deleted, and created again.
    expect(stdout).toContain('name: c2-shop-73736d-checkout');
    expect(stdout).toContain('semaphore_service_mirror_remote_up{remote="c2"} 1');
    expect(stdout).toContain('name: gl-default-73736d-shop');

    demo.signal('SIGINT');
    expect(await demo.ended).toMatchObject({ code: 0, signal: null });
    await demo.leavesNothing();
  },
);
