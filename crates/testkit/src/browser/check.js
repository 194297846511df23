// Opens a page in every form in which people see it, and prints one line for each fault.
//
// Arguments: the directory of the browser packages, the browser, the page, a directory for screenshots.
const [packages, browserPath, page, shots] = process.argv.slice(-4);
const path = require('path');
const { chromium } = require(path.join(packages, 'driver', 'package'));
const axe = require('fs').readFileSync(path.join(packages, 'axe', 'axe.min.js'), 'utf8');

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];
const RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] };
// All that the colours of the night can change.
const RULES_OF_COLOUR = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

const tooWide = () => {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return '';
  const isWide = (element) => element.getBoundingClientRect().right > root.clientWidth + 1
    && !element.parentElement.closest('.scroll');
  const widest = [...document.body.querySelectorAll('*')].filter(isWide).pop();
  const name = widest ? `${widest.outerHTML.slice(0, 120)}` : 'nothing in particular';
  return `${root.scrollWidth} px wide, by ${name}`;
};

// What a reader at a desk would have to push aside to read.
const hiddenAtDesk = () => {
  const isHidden = (element) => element.scrollWidth > element.clientWidth + 1;
  const found = [...document.querySelectorAll('.scroll')].find(isHidden);
  return found ? `${found.scrollWidth} px in ${found.clientWidth}: ${found.textContent.slice(0, 80)}` : '';
};

// A computer that is busy may give the browser no frame in time. That is no fault of the page.
async function captured(tab, options) {
  for (let left = 3; ; left -= 1) {
    try {
      return await tab.screenshot(options);
    } catch (error) {
      if (left === 0) throw error;
      await tab.waitForTimeout(500);
    }
  }
}

async function look(browser, width, colorScheme) {
  const context = await browser.newContext({
    viewport: { width, height: 900 }, colorScheme, bypassCSP: true,
  });
  const tab = await context.newPage();
  const faults = [];
  const asked = [];
  tab.on('request', (request) => asked.push(request.url()));
  await tab.goto(`file://${page}`);
  const name = `${width}-${colorScheme}`;
  const shot = await captured(tab, { path: `${shots}/${name}.png`, fullPage: true });
  const wide = await tab.evaluate(tooWide);
  if (wide) faults.push(`${name}: ${wide} on a screen of ${width} px`);
  const hidden = width >= 1280 ? await tab.evaluate(hiddenAtDesk) : '';
  if (hidden) faults.push(`${name}: a table hides columns, ${hidden}`);
  await tab.evaluate(axe);
  const rules = colorScheme === 'dark' ? RULES_OF_COLOUR : RULES;
  const found = await tab.evaluate((runOnly) => window.axe.run({ runOnly }), rules);
  for (const { id, nodes } of found.violations) {
    faults.push(`${name}: axe: ${id}: ${nodes[0].html.slice(0, 160)}`);
  }
  for (const url of asked.filter((url) => !url.startsWith('file:') && !url.startsWith('data:'))) {
    faults.push(`${name}: it asks for ${url}`);
  }
  await context.close();
  return { faults, shot };
}

async function withoutScript(browser, width, expected) {
  const context = await browser.newContext({
    viewport: { width, height: 900 }, colorScheme: 'light', javaScriptEnabled: false,
  });
  const tab = await context.newPage();
  await tab.goto(`file://${page}`);
  const shot = await captured(tab, { fullPage: true });
  await context.close();
  return shot.equals(expected) ? [] : [`${width}: it looks otherwise without JavaScript`];
}

async function printed(browser) {
  const context = await browser.newContext({ viewport: { width: 718, height: 1000 } });
  const tab = await context.newPage();
  await tab.emulateMedia({ media: 'print' });
  await tab.goto(`file://${page}`);
  const wide = await tab.evaluate(tooWide);
  await captured(tab, { path: `${shots}/print.png`, fullPage: true });
  const pdf = await tab.pdf({ path: `${shots}/print.pdf`, format: 'A4' });
  await context.close();
  const faults = wide ? [`printed: ${wide} on A4`] : [];
  if (pdf.length < 1000) faults.push('printed: nothing');
  return faults;
}

(async () => {
  const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS });
  const faults = [];
  for (const width of [1280, 390]) {
    const light = await look(browser, width, 'light');
    const dark = await look(browser, width, 'dark');
    faults.push(...light.faults, ...dark.faults);
    if (light.shot.equals(dark.shot)) faults.push(`${width}: dark is as light`);
    faults.push(...await withoutScript(browser, width, light.shot));
  }
  faults.push(...await printed(browser));
  await browser.close();
  for (const fault of faults) console.log(fault);
})().catch((error) => { console.error(String(error)); process.exit(1); });
