//! Sets of characters, `[…]`, and escapes for one character, in the dialect of fancy-regex.
//!
//! `regex` has set operations only under its version 1, where `(?i)` also matches one character by several
//! ("ß", "ss"); fancy-regex does not. So operations are written with lookaheads, which mean the same in both
//! engines. Sets and escapes are read by regex-syntax, as in fancy-regex itself.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, ClassBracketed, ClassSet, ClassSetBinaryOpKind, ClassSetItem, Span};

use super::cursor::negated;
use super::members::Tables;
use super::size::MAX_LENGTH;
use super::unicode::{SyntaxTables, is_property, is_script};
use crate::error::show_text;

/// Letters that `regex` matches with i and I under `(?i)`. By simple case folding, as in fancy-regex, each
/// matches itself alone.
const TURKISH: &str = "\u{130}\u{131}";

/// What a set or an escape is written as; an error names what has no equal.
type Written<T = String> = Result<T, String>;

/// The meaning of an escape: one character, or a class as it is written.
pub(super) enum Escape {
    Character(char),
    Class(String),
}

/// A character as it is written, alone or in a set.
fn escaped(character: char) -> String {
    let is_plain = character.is_alphanumeric() || !character.is_ascii() || character == '_';
    if is_plain { character.into() } else { format!("\\{character}") }
}

/// An expression that matches one character, with `folds` in either case.
pub(super) fn single(character: char, folds: bool) -> String {
    let has_cases = !character.to_lowercase().eq(character.to_uppercase());
    match character {
        _ if !folds || TURKISH.contains(character) || !has_cases => escaped(character),
        'i' | 'I' => "[Ii]".into(),
        _ => format!("(?i:{})", escaped(character)),
    }
}

/// An escape for one character or a class, in the spelling of regex-syntax.
pub(super) fn escape(source: &str, folds: bool) -> Written<Escape> {
    match &Parser::new().parse(source) {
        Ok(Ast::Literal(literal)) => Ok(Escape::Character(literal.c)),
        Ok(Ast::ClassUnicode(_)) => Ok(Escape::Class(property(source, folds)?)),
        Ok(Ast::ClassPerl(_) | Ast::ClassBracketed(_)) => Ok(Escape::Class(source.to_owned())),
        _ => Err(format!("the escape {}", show_text(source))),
    }
}

/// A set, in the spelling of regex-syntax, as an expression that matches one character.
pub(super) fn set(source: &str, folds: bool) -> Written {
    match &Parser::new().parse(source) {
        Ok(Ast::ClassBracketed(set)) => SetWriter { source, folds }.bracketed(set),
        Ok(_) => Err(format!("the set {}", show_text(source))),
        Err(error) => Err(format!("the set {} ({})", show_text(source), error.kind())),
    }
}

/// What stands in a set: characters, ranges and classes, and whole expressions.
#[derive(Default)]
struct Members {
    items: Vec<String>,
    nested: Vec<String>,
}

struct SetWriter<'s> {
    source: &'s str,
    /// Whether `(?i)` holds.
    folds: bool,
}

impl SetWriter<'_> {
    fn bracketed(&self, set: &ClassBracketed) -> Written {
        let whole = match &set.kind {
            ClassSet::Item(item) => {
                let members = self.members(item)?;
                if members.nested.is_empty() {
                    return self.leaf(&members.items, set.negated);
                }
                self.union(members)?
            }
            operation => self.operation(operation)?,
        };
        Ok(if set.negated { format!("(?:(?!{whole})(?s:.))") } else { whole })
    }

    /// Writes an operation on two sets. A symmetric difference writes both sides twice: its size is limited.
    fn operation(&self, set: &ClassSet) -> Written {
        let operation = match set {
            ClassSet::Item(item) => return self.union(self.members(item)?),
            ClassSet::BinaryOp(operation) => operation,
        };
        let (left, right) = (self.operation(&operation.lhs)?, self.operation(&operation.rhs)?);
        let written = match operation.kind {
            ClassSetBinaryOpKind::Intersection => format!("(?:(?={left}){right})"),
            ClassSetBinaryOpKind::Difference => format!("(?:(?!{right}){left})"),
            ClassSetBinaryOpKind::SymmetricDifference => format!("(?:(?!{right}){left}|(?!{left}){right})"),
        };
        match written.chars().count() > MAX_LENGTH {
            true => Err(format!("operations on sets that take more than {MAX_LENGTH} characters")),
            false => Ok(written),
        }
    }

    /// Writes the union of all members.
    fn union(&self, Members { items, mut nested }: Members) -> Written {
        if !items.is_empty() {
            nested.insert(0, self.leaf(&items, false)?);
        }
        match &*nested {
            [] => Err("an operation on an empty set".into()),
            [part] => Ok(part.clone()),
            parts => Ok(format!("(?:{})", parts.join("|"))),
        }
    }

    /// Writes a set without sets inside.
    fn leaf(&self, items: &[String], is_negated: bool) -> Written {
        let set = |items: String| if is_negated { negated(&items) } else { format!("[{items}]") };
        let body = set(items.concat());
        let others: String = items.iter().filter(|item| !TURKISH.contains(&***item)).cloned().collect();
        if !self.folds || others.is_empty() {
            return Ok(body);
        }
        Ok(format!("(?:(?![{TURKISH}])(?i:{})|(?=[{TURKISH}]){body})", set(others)))
    }

    fn members(&self, item: &ClassSetItem) -> Written<Members> {
        let mut members = Members::default();
        match item {
            ClassSetItem::Union(union) => {
                union.items.iter().try_for_each(|item| self.add(item, &mut members))?
            }
            item => self.add(item, &mut members)?,
        }
        Ok(members)
    }

    fn text(&self, span: &Span) -> &str {
        &self.source[span.start.offset..span.end.offset]
    }

    fn add(&self, item: &ClassSetItem, Members { items, nested }: &mut Members) -> Written<()> {
        let text = self.text(item.span());
        match item {
            ClassSetItem::Empty(_) | ClassSetItem::Union(_) => (),
            ClassSetItem::Literal(literal) => items.push(escaped(literal.c)),
            ClassSetItem::Range(ends) if self.folds => {
                items.extend(without_turkish(ends.start.c, ends.end.c))
            }
            ClassSetItem::Range(ends) => items.push(range(ends.start.c, ends.end.c)),
            ClassSetItem::Perl(_) => items.push(text.to_owned()),
            ClassSetItem::Unicode(_) => items.push(property(text, self.folds)?),
            ClassSetItem::Bracketed(_) if text.starts_with("[:") => {
                return Err(format!("the class {}", show_text(text)));
            }
            ClassSetItem::Bracketed(set) => nested.push(self.bracketed(set)?),
            ClassSetItem::Ascii(class) => {
                let ranges = SyntaxTables.matched(&format!("[{}]", text.replace('^', "")));
                let ends = |code: u32| char::from_u32(code).unwrap_or_default();
                let ranges = ranges.unwrap_or_default().into_iter();
                let body = ranges.map(|codes| range(ends(codes.start), ends(codes.end - 1))).collect();
                match class.negated {
                    true => nested.push(self.leaf(&[body], true)?),
                    false => items.push(body),
                }
            }
        }
        Ok(())
    }
}

/// A property as `regex` writes it, if both engines are known to read it alike.
fn property(source: &str, folds: bool) -> Written {
    let name = source[2..].trim_matches(['{', '}']);
    if folds {
        return Err(format!("the property {} under (?i)", show_text(source)));
    }
    match is_property(name) || is_script(name) {
        true => Ok(format!("{}{{{name}}}", &source[..2])),
        false => Err(format!("the property {}", show_text(source))),
    }
}

fn range(first: char, last: char) -> String {
    format!("{}-{}", escaped(first), escaped(last))
}

/// The items of a range, with each Turkish letter as an item of its own.
fn without_turkish(first: char, last: char) -> Vec<String> {
    let inside = TURKISH.chars().filter(|letter| (first..=last).contains(letter)).map(String::from);
    let below = (first < '\u{130}').then(|| range(first, last.min('\u{12f}')));
    let above = (last > '\u{131}').then(|| range(first.max('\u{132}'), last));
    below.into_iter().chain(inside).chain(above).collect()
}
