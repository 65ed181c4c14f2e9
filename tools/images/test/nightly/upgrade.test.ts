import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import { type App, checkOut, type Programs, programsOf, root } from '../support/programs.ts';
import { UpgradeLab } from '../support/upgrade/lab.ts';
import { changesBetween } from '../support/upgrade/state.ts';

/** The version before this one. Nothing is released yet, so it is the first commit that has charts, of 2026-11-27. */
const from = process.env['UPGRADE_FROM'] ?? '13d52c3f07057443a19457bb6f7624ba07c72f24';

/** What another version may write anew: docs/upgrade.md says so. */
const mayBeWritten = /^c1 endpointslices .*: endpoints\.(hostname|targetRef)$/;

const apps: readonly App[] = ['wireguard', 'service-mirror', 'policy'];

/** Each test continues from the state of the one before it. */
let earlier: Programs;
let present: Programs;
let lab: UpgradeLab;
/** The objects of the earlier charts. */
let first: Awaited<ReturnType<UpgradeLab['released']>>;
const rows: string[] = [];
const ends: (() => Promise<unknown>)[] = [];

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
  ends.unshift(() => rm(folder, { recursive: true }));
  return folder;
}

beforeAll(async () => {
  const folder = await makeFolder();
  const tree = join(folder, 'tree');
  await checkOut(from, tree);
  earlier = await programsOf(tree, join(folder, 'earlier'));
  present = await programsOf(root, join(folder, 'present'));
  lab = await UpgradeLab.start(join(tree, 'deploy/charts'));
  ends.unshift(() => lab.stop());
  first = await lab.released();
  for (const app of apps) await lab.replace(app, earlier);
  await lab.addService('web');
  await lab.addService('pods', { headless: true });
  await lab.addPod('web-1', 10);
  await lab.knows(10);
  await lab.call();
});
afterAll(async () => {
  console.log(
    ['| what happens | calls | seconds | failed | written fields |', '|---|---|---|---|---|', ...rows].join('\n'),
  );
  for (const end of ends) await end();
});
beforeEach(() => onTestFailed(() => console.error(lab.logs())));

/** Makes a change. @returns what that harmed: calls, objects, and writes without need */
async function harmOf(what: string, change: () => Promise<void>) {
  const before = await lab.state();
  const { calls, seconds, failed } = await lab.during(change);
  const { gone, added, written } = changesBetween(before, await lab.state());
  rows.push(`| ${[what, calls, seconds.toFixed(0), failed.length, written.length].join(' | ')} |`);
  return { failed, gone, added, written: written.filter((field) => !mayBeWritten.test(field)) };
}

const unharmed = { failed: [], gone: [], added: [], written: [] };

it('loses no call and no object when Helm upgrades the objects of all apps', async () => {
  expect(await harmOf('`helm upgrade`, in both clusters', () => lab.upgrade(join(root, 'deploy/charts')))).toEqual(
    unharmed,
  );
  expect(await lab.released()).toMatchObject(first);
});

it.each(apps)('loses no call and no object when the program %s is upgraded', async (app) => {
  expect(await harmOf(`upgrade of ${app}`, () => lab.replace(app, present))).toEqual(unharmed);
});

it('follows a new Pod in what the earlier programs wrote, and another Service', async () => {
  const { failed } = await lab.during(async () => {
    await lab.addPod('web-2', 11);
    await lab.addService('later');
    await lab.knows(10, 11);
    await lab.answers('web-2');
  });
  expect(failed).toEqual([]);
});

it('loses no call and no object when Helm rolls the objects of all apps back', async () => {
  expect(await harmOf('`helm rollback`, in both clusters', () => lab.rollback())).toEqual(unharmed);
  expect(await lab.released()).toEqual(first);
});

it.each(apps)('loses no call and no object when %s is rolled back', async (app) => {
  expect(await harmOf(`rollback of ${app}`, () => lab.replace(app, earlier))).toEqual(unharmed);
});

it('follows a Pod that is gone in what the later programs wrote', async () => {
  const { failed } = await lab.during(async () => {
    await lab.removePod('web-2');
    await lab.knows(10);
  });
  expect(failed).toEqual([]);
});

it('says what to fetch if the checkout lacks the commit', async () => {
  const commit = '0'.repeat(40);
  await expect(checkOut(commit, join(await makeFolder(), 'tree'))).rejects.toThrow(`git fetch origin ${commit}`);
});
