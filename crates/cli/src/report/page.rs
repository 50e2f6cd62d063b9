//! A page of headings, words, lists and tables, as Markdown or HTML. Whatever a ledger holds is text in it, never markup.

use equipoise_session::picture::escaped;
use std::fmt::Write as _;

/// A part of a page.
pub(super) enum Block {
    Head(String),
    Words(String),
    List(Vec<String>),
    Table { heads: Vec<&'static str>, rows: Vec<Vec<String>> },
}

/// A page under its title.
pub(super) struct Page {
    title: String,
    blocks: Vec<Block>,
}

/// Nothing is asked for from elsewhere, whatever a name in the page looks like.
const HEAD: &str = "<meta charset=\"utf-8\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
<meta name=\"viewport\" content=\"width=device-width\">
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:72em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse;margin:1em 0;font-size:13px}
th,td{text-align:left;vertical-align:top;padding:.25em .9em .25em 0;border-bottom:1px solid #8886;overflow-wrap:anywhere}
</style>";

impl Page {
    /// With nothing on it.
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.to_string(), blocks: Vec::new() }
    }

    /// One part more, below the others.
    pub(super) fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// The page as Markdown.
    pub(super) fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n", plain(&self.title));
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        for block in &self.blocks {
            let written = match block {
                Block::Head(words) => format!("## {}\n", plain(words)),
                Block::Words(words) => format!("{}\n", plain(words)),
                Block::List(lines) => {
                    let items: Vec<String> =
                        lines.iter().map(|line| format!("- {}\n", plain(line))).collect();
                    items.concat()
                }
                Block::Table { heads, rows } => {
                    let heads = [
                        row(heads.iter().map(ToString::to_string).collect()),
                        row(vec!["---".to_string(); heads.len()]),
                    ];
                    let rows = rows.iter().map(|cells| row(cells.iter().map(|cell| plain(cell)).collect()));
                    heads.into_iter().chain(rows).collect()
                }
            };
            text.push('\n');
            text.push_str(&written);
        }
        text
    }

    /// The page as one HTML file.
    pub(super) fn to_html(&self) -> String {
        let title = escaped(&self.title);
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n{HEAD}\n<title>{title}</title>\n<h1>{title}</h1>\n"
        );
        for block in &self.blocks {
            let _ = match block {
                Block::Head(words) => writeln!(text, "<h2>{}</h2>", escaped(words)),
                Block::Words(words) => writeln!(text, "<p>{}</p>", escaped(words)),
                Block::List(lines) => {
                    let items: Vec<String> =
                        lines.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
                    let items = items.concat();
                    writeln!(text, "<ul>\n{items}</ul>")
                }
                Block::Table { heads, rows } => {
                    let cells = |cells: &[String], tag: &str| -> String {
                        let each = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell)));
                        each.collect::<Vec<_>>().concat()
                    };
                    let heads: Vec<String> = heads.iter().map(ToString::to_string).collect();
                    let body: Vec<String> =
                        rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row, "td"))).collect();
                    let body = body.concat();
                    writeln!(
                        text,
                        "<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>",
                        cells(&heads, "th")
                    )
                }
            };
        }
        text + "</html>\n"
    }
}

/// A text of anybody's in Markdown: no mark of it means anything, and it stays on its line.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in equipoise_session::bar::printable(text).chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                safe.push('\\');
                safe.push(letter);
            }
            '\n' | '\r' => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_in_both_formats() {
        let hostile = "a|b\n# c <script>alert(1)</script> [x](http://y) `z` \u{1b}[31m ![](http://q)";
        let mut page = Page::new(hostile);
        page.push(Block::Head(hostile.to_string()));
        page.push(Block::Words(hostile.to_string()));
        page.push(Block::List(vec![hostile.to_string()]));
        page.push(Block::Table { heads: vec!["what"], rows: vec![vec![hostile.to_string()]] });
        let markdown = page.to_markdown();
        // A title, a heading, a line, an item, and a table of three lines, with empty lines between them.
        assert_eq!(markdown.lines().filter(|line| !line.is_empty()).count(), 7, "{markdown}");
        // A bracket behind a backslash is a bracket and no link.
        let live = markdown.replace("\\]", "");
        assert!(!live.contains("<script") && !live.contains("](") && !live.contains(" `z"), "{markdown}");
        assert!(markdown.contains("| a\\|b") && !markdown.contains('\u{1b}'), "{markdown}");
        let html = page.to_html();
        assert!(
            !html.contains("<script") && html.contains("&lt;script&gt;") && !html.contains('\u{1b}'),
            "{html}"
        );
        assert!(
            html.contains("default-src 'none'") && !html.contains("src=\"") && !html.contains("href="),
            "{html}"
        );
    }
}
