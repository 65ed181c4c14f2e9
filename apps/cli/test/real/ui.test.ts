// Real: a browser shows the page, with what two API servers and their proxies answer.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { eventually, TIMEOUT_MS } from '@kube-semaphore/eventually';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { explainPage } from '../../src/explain/page.ts';
import { pageFiles } from '../../src/ui/files.ts';
import type { Mesh } from '../../src/ui/mesh.ts';
import { routesOf } from '../../src/ui/routes.ts';
import { serve } from '../../src/ui/server.ts';
import { type Checked, checkedOf, safeJson } from '../../src/ui/view.ts';
import { exampleMesh, largeMesh } from '../support/meshes.ts';

const pictures = fileURLToPath(new URL('../../../../docs/pictures/', import.meta.url));

let browser: Browser;
beforeAll(async () => {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  if (!existsSync(executablePath))
    throw new Error(`${executablePath} is missing: install Debian's package chromium, or set CHROMIUM to a Chromium`);
  // Chromium has no sandbox for root, and the page is ours.
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--host-resolver-rules=MAP rebound.example 127.0.0.1'],
  });
});
afterAll(() => browser?.close());

const check: Checked = checkedOf(
  [
    { name: 'clusters-reached', hint: 'do what the sentence says', result: 'ok', findings: [] },
    {
      name: 'handshakes',
      hint: 'check that UDP is open between the nodes, and the endpoint annotations',
      result: 'problem',
      findings: [
        {
          severity: 'problem',
          detail: 'no recent handshake with c3: from c2 (wireguard in kube-system/agent-c2-b): c3-a',
        },
      ],
    },
  ],
  '2026-01-01T03:00:00.000Z',
);

const explanation = {
  from: 'c1/shop/cart',
  to: 'web.shop.svc.cluster.c2:80',
  hops: [
    { name: 'caller', result: 'ok', detail: 'shop/cart is ready on c1-a' },
    { name: 'dns', result: 'wrong', detail: 'no rule of CoreDNS rewrites it', fix: 'kubectl --context c1 edit' },
  ],
  firstWrong: 'dns',
} as const;

/** Opens the page of a mesh until the test ends. */
async function open(mesh: Mesh): Promise<{ readonly page: Page; readonly faults: readonly string[] }> {
  const sources = {
    mesh: async () => mesh,
    check: () => Promise.resolve(check),
    explain: async () => safeJson(explainPage([explanation])),
  };
  const { url, server } = await serve(routesOf(await pageFiles(), sources), { port: 0, token: 'token' });
  const page = await browser.newPage({ viewport: { width: 1280, height: 960 } });
  page.setDefaultTimeout(TIMEOUT_MS);
  onTestFinished(async () => {
    await page.close();
    server.close();
    server.closeAllConnections();
  });
  const faults: string[] = [];
  page.on('console', (message) => faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) faults.push(request.url());
  });
  // The page says how long ago it was read.
  await page.clock.setFixedTime(new Date('2026-01-01T03:00:04.000Z'));
  await page.goto(url);
  await page.getByRole('heading', { name: 'Explain' }).waitFor();
  return { page, faults };
}

describe('the page in a browser', () => {
  it('has landmarks, headings and tables with names, and asks no other server', async () => {
    const { page, faults } = await open(exampleMesh());
    for (const landmark of ['banner', 'search', 'navigation', 'main'] as const)
      expect(await page.getByRole(landmark).count()).toBe(1);
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Problems (1)',
      'Picture',
      'Cluster pairs (12)',
      'Tunnels (24)',
      'Services (12)',
      'Skipped objects (1)',
      'Checks',
      'Explain',
    ]);
    expect(await page.getByRole('status').textContent()).toBe(
      '✗ 1 problem, 2 tunnels without a recent handshake, failed checks in 4 clusters',
    );
    const pairs = page.getByRole('table', { name: 'Cluster pairs (12)' });
    expect(await pairs.getByRole('columnheader').allTextContents()).toEqual([
      'From',
      'To',
      'policy',
      'service-mirror',
      'wireguard',
      'Tunnels',
      'Last change',
    ]);
    const away = pairs.getByRole('row').filter({ hasText: 'c4' }).filter({ hasText: 'not reached' });
    const cell = away
      .first()
      .getByRole('cell', { name: 'not reached: connect ETIMEDOUT 198.51.100.4:6443', exact: true });
    expect(await cell.count()).toBe(2);
    const picture = '4 clusters; tunnels: 22 recent handshake, 1 old handshake, 1 no handshake';
    expect(await page.getByRole('img', { name: picture }).count()).toBe(1);
    expect(faults).toEqual([]);
  });

  it('explains a path by the keyboard alone, and moves the focus to the answer', async () => {
    const { page } = await open(exampleMesh());
    const keys = page.keyboard;
    await keys.press('Tab');
    expect(await focused(page)).toBe('Skip to the problems');
    await page.getByRole('link', { name: 'explain' }).focus();
    await keys.press('Enter');
    await keys.press('Tab');
    await keys.type('c1/shop/cart');
    await keys.press('Tab');
    await keys.type('c2/shop/web:80');
    expect(await page.getByLabel('From the Pod').inputValue()).toBe('c1/shop/cart');
    expect(await page.getByLabel('To the Service, workload, Pod or DNS name').inputValue()).toBe('c2/shop/web:80');
    await keys.press('Enter');
    await page.getByRole('heading', { level: 3 }).waitFor();
    await eventually(() => focused(page), 'c1/shop/cart to web.shop.svc.cluster.c2:80: first wrong: dns');
    expect(await page.getByRole('region', { name: 'Explain' }).getByRole('listitem').allTextContents()).toEqual([
      '✓ caller ok: shop/cart is ready on c1-a',
      '✗ dns wrong: no rule of CoreDNS rewrites itkubectl --context c1 edit',
    ]);
  });

  it('is dark or light as the browser is', async () => {
    const { page } = await open(exampleMesh());
    const grounds = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      grounds.push(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      // `UPDATE_PICTURES=1` renews the pictures in docs.
      if (process.env['UPDATE_PICTURES'] === '1') await page.screenshot({ path: `${pictures}ui-${colorScheme}.png` });
    }
    expect(grounds).toEqual(['rgb(255, 255, 255)', 'rgb(20, 23, 27)']);
  });

  it('shows what foreign names say, and nothing of what they do', async () => {
    const hostile = '<img src=x onerror="document.title=1"><b>c9</b>';
    const mesh = { ...exampleMesh(), problems: [hostile] };
    const { page, faults } = await open({
      ...mesh,
      graph: { ...mesh.graph, clusters: [{ name: hostile, nodes: [] }] },
    });
    expect(await page.getByRole('rowheader', { name: hostile }).count()).toBe(1);
    expect(await page.locator('main img, main b').count()).toBe(0);
    expect([await page.title(), faults]).toEqual(['semaphore', []]);
  });

  it('is read by no other site in the browser, even if that knows the URL with its token', async () => {
    const { page } = await open(exampleMesh());
    const url = page.url();
    const site = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<body>another site'),
    );
    await once(site.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void site.close());
    const other = await browser.newPage();
    onTestFinished(() => other.close());
    await other.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const read = await other.evaluate(`(async (url) => {
      const loaded = (tag, from) => new Promise((resolve) => {
        const element = document.createElement(tag);
        element.onload = () => resolve('loaded');
        element.onerror = () => resolve('refused');
        element.src = from;
        document.body.append(element);
      });
      const opened = window.open(url);
      return {
        text: await fetch(url + 'mesh.json').then((response) => response.text(), () => 'refused'),
        opaque: await fetch(url + 'mesh.json', { mode: 'no-cors' }).then(() => 'loaded', () => 'refused'),
        script: await loaded('script', url + 'page.js'),
        picture: await loaded('img', url + 'icon.svg'),
        frame: await loaded('iframe', url).then(() => 'shown, unless it is an error'),
        window: await new Promise((resolve) => {
          const ask = () => {
            try {
              void opened.document.body;
              setTimeout(ask, 50);
            } catch {
              resolve('refused');
            }
          };
          ask();
        }),
      };
    })(${JSON.stringify(url)})`);
    const refused = { text: 'refused', opaque: 'refused', script: 'refused', picture: 'refused' };
    expect(read).toEqual({ ...refused, frame: 'shown, unless it is an error', window: 'refused' });
    expect(other.frames().map((frame) => new URL(frame.url()).protocol)).toEqual(['http:', 'chrome-error:']);
    // A name of the other site may lead to this machine later.
    const answer = await other.goto(url.replace('127.0.0.1', 'rebound.example'));
    expect([answer?.status(), await answer?.text()]).toEqual([403, 'unknown host\n']);
  });

  it('stays small with 250 clusters, and finds one of them', async () => {
    const { page } = await open(largeMesh(250));
    const elements = async (): Promise<number> => page.locator('*').count();
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toContain('Cluster pairs (62,250)');
    expect(await elements()).toBeLessThan(6_000);
    await page.getByLabel('Filter by name').fill('cluster-249');
    await page.getByRole('heading', { name: 'Cluster pairs (498)' }).waitFor();
    await page.getByRole('button', { name: 'Next cluster pairs' }).click();
    await page.getByText('51 to 100 of 498').waitFor();
    expect(await elements()).toBeLessThan(6_000);
  });
});

const focused = async (page: Page): Promise<unknown> => page.evaluate('document.activeElement?.textContent');
