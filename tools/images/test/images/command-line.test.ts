import { chmod } from 'node:fs/promises';
import { startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { imageName, startContainer } from '@kube-semaphore/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { controllers } from '../../src/bundle/bundle.ts';
import { inspect } from '../support/image.ts';

/** The output of a container until its end. */
async function outputOf(
  app: string,
  args: readonly string[],
  command?: string,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const container = startContainer({ image: imageName(app), args, ...(command !== undefined && { command }) });
  const { code } = await container.exited;
  return { code, stdout: container.stdout(), stderr: container.stderr() };
}

const version = async (app: string): Promise<string> => {
  const labels = (await inspect(app)).Labels;
  return `semaphore-${app} ${labels['org.opencontainers.image.version']} (commit ${labels['org.opencontainers.image.revision']})\n`;
};

describe.concurrent.each(controllers)('a container of %s, in which nothing can be written', (app) => {
  it('prints its name, version and commit', async ({ expect }) => {
    expect(await outputOf(app, ['--version'])).toEqual({ code: 0, stdout: await version(app), stderr: '' });
  });

  it('prints its flags', async ({ expect }) => {
    const { code, stdout } = await outputOf(app, ['-help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ +-listen-address/m);
  });

  it('exits with 2 and one sentence for invalid flags', async ({ expect }) => {
    expect(await outputOf(app, ['-nonsense'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/-nonsense/) });
  });
});

it('also exists under its older name', async () => {
  expect(await outputOf('policy', ['--version'], '/kube-policy-semaphore')).toMatchObject({
    code: 0,
    stdout: await version('policy'),
  });
});

it('checks a cluster', async () => {
  const cluster = await startEmbeddedCluster({ name: 'c1' });
  onTestFinished(() => cluster.stop());
  await chmod(cluster.adminKubeconfig, 0o644);
  const check = startContainer({
    image: imageName('cli'),
    args: ['check', '--kubeconfig', '/kubeconfig'],
    mounts: { '/kubeconfig': cluster.adminKubeconfig },
  });
  onTestFinished(() => check.remove());
  expect([(await check.exited).code, check.stdout()]).toEqual([1, expect.stringContaining('✗ apps-found: ')]);
});
