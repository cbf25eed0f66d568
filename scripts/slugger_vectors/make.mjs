// Writes what the real packages answer: kept characters, slugs of sequences, anchors of pages.
import fs from 'node:fs'
import GithubSlugger, {slug} from 'github-slugger'
import rehypeRaw from 'rehype-raw'
import rehypeSlug from 'rehype-slug'
import {remarkHeadingId} from 'remark-custom-heading-id'
import remarkGfm from 'remark-gfm'
import remarkMdx from 'remark-mdx'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import {unified} from 'unified'
import {visit} from 'unist-util-visit'

// Their lower case is younger than the slugger: it depends on the runtime, not on the package.
const UNSTABLE = [0xa7cb, 0xa7dc]

const SEQUENCES = [
  ['Hello World', 'hello world', 'Hello, World!'],
  ['a', 'a', 'a-1', 'a'],
  ['a-1', 'a', 'a'],
  ['', '', ' ', '  '],
  ['🎉', '🎉 Party', 'I ♥ unicode'],
  ['İstanbul', 'ΟΔΟΣ', 'Straße', 'ǅ', 'ÅNGSTRÖM'],
  ['constructor', 'constructor', '__proto__', 'toString'],
  ['What’s new?', "What's new?", 'C++ & C#', 'v1.2.3', 'snake_case', 'a–b—c', 'tab\there'],
  ['日本語 テキスト', 'Привет, мир', 'हिन्दी', 'العربية', '한국어'],
  ['½ ² Ⅷ ٣ ⓐ', 'zero\u200dwidth', 'nb\u00a0sp', 'two\nlines']
]

const PAGES = [
  {mdx: false, text: '# `code` and *emphasis*\n\nText\n\nSetext [link](https://x.y)\n---\n\n## &lt;T&gt; \\* **b**\n'},
  {mdx: false, text: '## ![alt](i.png) Title\n\n## Title <b>bold</b>\n\n## Title\n\n## <a id="x"></a>Title\n'},
  {mdx: false, text: '- ## In a list\n\n> ### In a quote\n\n```md\n# no heading\n```\n\n    # code\n'},
  {mdx: false, text: '<h2 id="own">Own</h2>\n\n## Own\n\n<h2>Made</h2>\n\n## Made\n\n####### seven\n\n#nospace\n'},
  {mdx: false, text: 'Two\nlines\n===\n\n## Trailing ##\n\n## ~~old~~ new\n\n## `a``b`\n\n## <https://x.y>\n'},
  {mdx: true, text: "import A from 'a'\n\nexport const b = {\n  c: `# no\n\n## no`\n}\n\n## `f()` <A v=\"1\" />\n\n## <A /> First\n"},
  {mdx: true, text: '<A>\n    ## Indented\n\n    - ### Deep\n</A>\n\n{/*\n## Hidden\n*/}\n\n## Shown {/* aside */}\n'},
  {mdx: true, text: '<A b={() => <i>x</i>}>\n## Inside\n</A>\n\n## Sum {1 + 1} is\n\n## 1 < 2\n\n## A\\{b}\n'},
  {mdx: true, text: ':::tip[Title]\n\n## In an aside\n\n:::\n\n<Tabs>\n  <TabItem label="npm">\n\n  ## In a tab\n\n  </TabItem>\n  <TabItem label="pnpm">\n\n  ## In a tab\n\n  </TabItem>\n</Tabs>\n\n## In a tab\n'},
  {mdx: true, text: '<Steps>\n\n1. ## First step\n\n   Text\n\n2. ## First step\n\n   <Aside>\n   ### `deep` *one*\n   </Aside>\n\n</Steps>\n\n> ## Quoted 🎉 &amp; more\n\nSetext `x`\n---\n'},
  {mdx: true, text: '## [`f()`](u) and **[b](v)**\n\n## &lt;T&gt; &copy; x&nbsp;y\n\n## 🎉 Party 🎉\n\n## 🎉\n\n## ~~old~~ --flag\n\n## ![alt](i.png) pic\n\n## Title\n\n## title\n\n## Title-1\n\n## Title\n'},
  {mdx: false, text: '> [!NOTE]\n> ## In an alert\n\n::: warning\n\n## In a box\n\n:::\n\n<details>\n<summary>More</summary>\n\n## Folded\n\n</details>\n\n<div>\n\n## Folded\n\n</div>\n'},
  {mdx: false, text: '- item\n\n  ## Deep\n\n  - ## Deeper `x`\n\n1. one\n2. ## Two\n\n## Deep\n\n## www.example.com and https://x.y\n\n## a[^1]\n\n[^1]: note\n'},
  {mdx: false, own: true, text: '## Own {#mine}\n\n## Own\n\n## mine\n\n## `code` {#c}\n\nSetext {#set}\n---\n\n> ## Q {#q}\n\n## Own\n'}
]

function keptRanges() {
  const ranges = []
  for (let point = 0; point <= 0x10ffff; point++) {
    const isSurrogate = point >= 0xd800 && point <= 0xdfff
    if (isSurrogate || UNSTABLE.includes(point) || slug(String.fromCodePoint(point)) === '') continue
    const last = ranges.at(-1)
    if (last && last[1] === point - 1) last[1] = point
    else ranges.push([point, point])
  }
  return ranges
}

function slugs(texts) {
  const slugger = new GithubSlugger()
  return texts.map((text) => [text, slugger.slug(text)])
}

function anchors({mdx, own, text}) {
  const nodes = ['mdxjsEsm', 'mdxFlowExpression', 'mdxTextExpression', 'mdxJsxFlowElement', 'mdxJsxTextElement']
  const processor = unified().use(remarkParse).use(remarkGfm)
  if (mdx) processor.use(remarkMdx)
  if (own) processor.use(remarkHeadingId)
  processor.use(remarkRehype, {allowDangerousHtml: true, passThrough: nodes})
  if (!mdx) processor.use(rehypeRaw)
  const tree = processor.use(rehypeSlug).runSync(processor.parse(text))
  const found = []
  visit(tree, 'element', (node) => {
    if (/^h[1-6]$/.test(node.tagName) && node.properties.id !== 'footnote-label') found.push(node.properties.id)
  })
  return {mdx, text, anchors: found}
}

const lines = {kept: keptRanges(), unstable: UNSTABLE, sequences: SEQUENCES.map(slugs), pages: PAGES.map(anchors)}
fs.writeFileSync(process.argv[2], JSON.stringify(lines) + '\n')
