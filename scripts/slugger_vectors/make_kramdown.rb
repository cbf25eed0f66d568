# Writes what kramdown answers for pages.json with the options that Jekyll gives it.
# ruby make_kramdown.rb ../../tests/unit/data/kramdown_vectors.json; needs kramdown-parser-gfm.
require 'json'
require 'kramdown'
require 'kramdown-parser-gfm'

OPTIONS = {input: 'GFM', auto_ids: true, hard_wrap: false, entity_output: 'as_char'}.freeze
OWN = [ # ids that only kramdown reads
  "## Below\n{: #own1}\n\n{: #own2}\n## Above\n\n## C\n{:#own3 .wide}\n\nD\n---\n{: .wide #own4}\n",
  "para\n{: #para}\n\n## E\n\n{: #far}\n\n## F\n{: .wide}\n\n## G\n{: #g}\n## H\n\n> ## I\n> {: #i}\n",
  "text before\n## No blank line\n\n## dup\n\n## dup-1\n\n## dup\n\n```\n## x\n{: #y}\n```\n"
].freeze

def ids(text)
  html = Kramdown::Document.new(text, OPTIONS).to_html
  html.scan(/<h[1-6]([^>]*)>/).map { |(attributes)| attributes[/\bid="([^"]*)"/, 1].to_s }
end

def kept
  parser = Kramdown::Parser::GFM.send(:new, '', Kramdown::Options.merge(OPTIONS))
  points = (33..0x10ffff).reject { |point| point.between?(0xd800, 0xdfff) }
  points = points.reject do |point|
    parser.instance_variable_set(:@id_counter, Hash.new(-1))
    parser.generate_gfm_header_id([point].pack('U')).empty?
  end
  points.slice_when { |a, b| b != a + 1 }.map { |run| [run.first, run.last] }
end

pages = JSON.parse(File.read(File.join(__dir__, 'pages.json'))) + OWN
lines = {kept: kept, pages: pages.map { |text| {text: text, anchors: ids(text)} }}
File.write(ARGV[0], "#{JSON.generate(lines)}\n")
