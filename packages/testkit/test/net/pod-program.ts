#!/usr/bin/env -S FROM_LAUNCHER=yes node --max-semi-space-size=1
/** What runs in the Pods of the kubelet's tests: shows what it was given at port 8080, and ends when it is asked for /end. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';

const [, , ...args] = process.argv;

/** The texts of all files below a folder, by their paths. */
function filesBelow(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]),
  );
}

/** Whether a folder can be written to. */
function isWritable(folder: string): boolean {
  try {
    writeFileSync(join(folder, 'written'), '');
    return true;
  } catch {
    return false; // EROFS
  }
}

createServer(({ url }, response) => {
  if (url === '/end') process.exit();
  const files = filesBelow('/etc/kube-semaphore');
  const writable = ['/etc/kube-semaphore/config', '/var/lib/pod-program'].filter(isWritable);
  response.end(
    JSON.stringify({
      args,
      env: process.env,
      hostname: hostname(),
      files,
      writable,
      run: readdirSync('/run'),
      resolver: readFileSync('/etc/resolv.conf', 'utf8'),
    }),
  );
}).listen(8080);
console.log('listening');
