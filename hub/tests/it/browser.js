// Walks through the hub as a newcomer does and prints one line for each fault.
//
// Arguments: the directory of the browser packages, the browser, the hub's address, the address of the record that was
// submitted, its token, an administrator's token, a directory for screenshots. With CARDPROOF_TEST_THOROUGH each page is
// seen in both sets of colours at both widths.
const [packages, browserPath, hub, record, token, administrator, shots] = process.argv.slice(-7);
const path = require('path');
const { chromium } = require(path.join(packages, 'driver', 'package'));
const axe = require('fs').readFileSync(path.join(packages, 'axe', 'axe.min.js'), 'utf8');

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
const thorough = process.env.CARDPROOF_TEST_THOROUGH !== undefined;
const faults = [];
const id = record.split('/').pop();

// Everything that a person does, without JavaScript: all of it must work by links and forms.
async function walk(browser) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const tab = await context.newPage();
  tab.setDefaultTimeout(20000);
  await tab.goto(hub);
  await tab.getByRole('searchbox').fill('sandsik extrem plus');
  await tab.getByRole('button', { name: 'Search' }).click();
  await tab.locator('.entries a[href*="/models/sim-"]').first().click();
  const model = tab.url();
  await tab.locator(`a[href="/r/${id}"]`).first().click();
  if (tab.url() !== record) faults.push(`the way to the record ends at ${tab.url()}`);
  if (!(await tab.textContent('.mark')).includes('Simulated')) faults.push('a simulated record is not marked');
  await tab.getByRole('link', { name: 'compare', exact: true }).click();
  for (const wanted of ['extreme a1', 'samsung emmc']) {
    await tab.getByLabel('Add a card').fill(wanted);
    await tab.getByRole('button', { name: 'Search' }).click();
    await tab.locator('.entries a').first().click();
    await tab.locator('.entries .add').first().click();
  }
  const compared = tab.url();
  const count = decodeURIComponent(compared).split('ids=')[1].split(',').length;
  if (count !== 3) faults.push(`${count} records are compared, not 3`);
  await tab.goto(record);
  await tab.getByRole('link', { name: 'delete', exact: true }).click();
  await tab.getByLabel('Token').fill('wrong');
  await tab.getByRole('button', { name: 'Delete' }).click();
  if (!(await tab.textContent('main')).includes('not the token')) faults.push('a wrong token is not named');
  await context.close();
  return { model, compared };
}

const tooWide = () => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return '';
  const isWide = (it) => it.getBoundingClientRect().right > root.clientWidth + 1 && !it.parentElement.closest('.scroll');
  const widest = [...document.body.querySelectorAll('*')].filter(isWide).pop();
  return `${root.scrollWidth} px wide, by ${widest ? widest.outerHTML.slice(0, 120) : 'nothing in particular'}`;
};

// Whoever moderates sees all columns of a row at once, also on a phone.
const isSideways = () => [...document.querySelectorAll('.scroll')].some((it) => it.scrollWidth > it.clientWidth);

// Every page in one window: a picture of each, and with `judges` axe's opinion too.
async function look(browser, pages, width, colorScheme, judges) {
  const httpCredentials = { username: 'admin', password: administrator, origin: hub };
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, httpCredentials });
  const tab = await context.newPage();
  let at = '';
  tab.on('request', (request) => {
    if (!request.url().startsWith(hub) && !request.url().startsWith('data:')) faults.push(`${at}: it asks for ${request.url()}`);
  });
  tab.on('console', (message) => { if (message.type() === 'error') faults.push(`${at}: ${message.text()}`); });
  const taken = {};
  for (const [name, url] of Object.entries(pages)) {
    at = `${name}-${width}-${colorScheme}`;
    const answer = await tab.goto(url);
    if (answer.status() !== 200) faults.push(`${at}: ${answer.status()}`);
    taken[name] = await tab.screenshot({ path: `${shots}/${at}.png`, fullPage: true });
    const wide = await tab.evaluate(tooWide);
    if (wide) faults.push(`${at}: ${wide}`);
    if (['moderation', 'bans'].includes(name) && await tab.evaluate(isSideways)) faults.push(`${at}: a table scrolls sideways`);
    if (judges) await judge(tab, at);
  }
  await context.close();
  return taken;
}

async function judge(tab, at) {
  await tab.evaluate(axe);
  const options = { runOnly: TAGS, resultTypes: ['violations'], preload: false };
  const found = await tab.evaluate((options) => window.axe.run(options), options);
  if (found.passes.length < 5) faults.push(`${at}: axe looked at ${found.passes.length} rules only`);
  for (const { id: rule, nodes } of found.violations) faults.push(`${at}: axe: ${rule}: ${nodes[0].html.slice(0, 160)}`);
}

// Before all of a list are deleted, an administrator is asked, and the way back deletes nothing.
async function ask(browser) {
  const httpCredentials = { username: 'admin', password: administrator, origin: hub };
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 390, height: 900 }, httpCredentials });
  const tab = await context.newPage();
  tab.setDefaultTimeout(20000);
  await tab.goto(`${hub}/moderation?record=${id}`);
  await tab.locator('a[href*="submitter="]').first().click();
  const list = tab.url();
  await tab.getByRole('button', { name: 'Do it', exact: true }).scrollIntoViewIfNeeded();
  await tab.getByLabel('Reason', { exact: true }).fill('made up');
  await tab.getByRole('button', { name: 'Do it', exact: true }).click();
  if (!(await tab.textContent('main')).includes('choose records first')) faults.push('nothing chosen is not told');
  await tab.getByRole('link', { name: 'Back' }).click();
  if (tab.url() !== list) faults.push(`the way back from a refusal ends at ${tab.url()}`);
  await tab.getByLabel('Action').selectOption('delete');
  await tab.getByLabel('Reason', { exact: true }).fill('made up');
  await tab.getByRole('button', { name: /^Do it to all/ }).click();
  if (!(await tab.textContent('h1')).includes('Delete 1 record?')) faults.push('many are deleted without a question');
  await tab.screenshot({ path: `${shots}/question-390-light.png`, fullPage: true });
  await tab.getByRole('link', { name: /^Delete nothing/ }).click();
  if (tab.url() !== list) faults.push(`the way back from the question ends at ${tab.url()}`);
  const answer = await tab.goto(record);
  if (answer.status() !== 200) faults.push(`after the question: ${answer.status()}`);
  await tab.goto(record);
  await tab.getByRole('button', { name: 'Report this record' }).click();
  await tab.getByRole('link', { name: 'Back to the record' }).click();
  if (tab.url() !== record) faults.push(`the way back from a report ends at ${tab.url()}`);
  await context.close();
}

async function remove(browser) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const tab = await context.newPage();
  await tab.goto(`${record}/delete`);
  await tab.getByLabel('Token').fill(token);
  await tab.getByRole('button', { name: 'Delete' }).click();
  const answer = await tab.goto(record);
  if (answer.status() !== 410) faults.push(`after deleting: ${answer.status()}`);
  await context.close();
}

(async () => {
  const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS });
  const { model, compared } = await walk(browser);
  const found = await (await fetch(`${hub}/api/v1/search?q=sandisk`)).json();
  const two = found.models.slice(0, 2).map((it) => it.model);
  const pages = {
    home: `${hub}/`, search: `${hub}/search?q=sandisk`, model, record, compared, latest: `${hub}/latest`,
    hosts: `${hub}/hosts`, fakes: `${hub}/fakes`, lives: `${hub}/lives`, api: `${hub}/api`,
    host: `${hub}/hosts/simulated-host`, cardsCompared: `${hub}/compare?cards=${two.join(',')}`, cards: `${hub}/models`, data: `${hub}/data`, queries: `${hub}/data/queries`, about: `${hub}/about`,
    compare: `${hub}/compare`, delete: `${record}/delete`, moderation: `${hub}/moderation?state=newest`,
    bans: `${hub}/moderation?state=banned`,
  };
  // axe judges each width once and each set of colours once: no colour depends on the width.
  const [wide, narrow] = await Promise.all([
    look(browser, pages, 1280, 'light', true),
    look(browser, pages, 390, 'dark', true),
  ]);
  // Each page in the other colours; elsewhere one stands for all, which have one style sheet.
  const others = thorough ? pages : { record };
  const compare = (one, other, width) => {
    for (const name of Object.keys(other)) {
      if (one[name].equals(other[name])) faults.push(`${name}-${width}: dark is as light`);
    }
  };
  compare(wide, await look(browser, others, 1280, 'dark', false), 1280);
  compare(narrow, await look(browser, others, 390, 'light', false), 390);
  await ask(browser);
  await remove(browser);
  await browser.close();
  for (const fault of faults) console.log(fault);
})().catch((error) => { console.error(String(error)); process.exit(1); });
