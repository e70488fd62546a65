//! The syntax tree of a template, as Jinja's parser makes it and Python hands it on.

use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use super::text::Text;
use crate::encode::marks;

/// A statement. The fields are those of Jinja's nodes of the same names.
#[derive(Debug, Deserialize)]
pub(super) enum Statement {
    Output(Vec<Expression>),
    For(Expression, Expression, Vec<Statement>, Vec<Statement>, Option<Expression>, bool),
    If(Expression, Vec<Statement>, Vec<Statement>, Vec<Statement>),
    Assign(Expression, Expression),
    AssignBlock(Expression, Option<Expression>, Vec<Statement>),
    Macro(String, Vec<Expression>, Vec<Expression>, Vec<Statement>),
    Break(),
    Continue(),
    /// The block `{% generation %}`.
    Generation(Vec<Statement>),
}

/// An expression.
#[derive(Debug, Deserialize)]
pub(super) enum Expression {
    TemplateData(Literal),
    Const(Literal),
    Name(String),
    #[serde(rename = "NSRef")]
    Attribute(String, String),
    Getattr(Box<Expression>, String),
    Getitem(Box<Expression>, Box<Expression>),
    Slice(Option<Box<Expression>>, Option<Box<Expression>>, Option<Box<Expression>>),
    Call(Box<Expression>, Vec<Expression>, Vec<Keyword>),
    Filter(Box<Expression>, String, Vec<Expression>, Vec<Keyword>),
    Test(Box<Expression>, String, Vec<Expression>),
    Compare(Box<Expression>, Vec<Operand>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Add(Box<Expression>, Box<Expression>),
    Sub(Box<Expression>, Box<Expression>),
    Mod(Box<Expression>, Box<Expression>),
    Neg(Box<Expression>),
    Concat(Vec<Expression>),
    CondExpr(Box<Expression>, Box<Expression>, Option<Box<Expression>>),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Dict(Vec<Pair>),
}

/// An argument with a name.
#[derive(Debug, Deserialize)]
pub(super) enum Keyword {
    Keyword(String, Expression),
}

/// An operator of a comparison, with what is behind it.
#[derive(Debug, Deserialize)]
pub(super) enum Operand {
    Operand(String, Expression),
}

/// A row of a dict.
#[derive(Debug, Deserialize)]
pub(super) enum Pair {
    Pair(Expression, Expression),
}

/// A literal: a text, which the template speaks itself, or another value.
#[derive(Debug)]
pub(super) enum Literal {
    Text(Arc<Text>),
    Json(Json),
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        Ok(match Json::deserialize(json)? {
            Json::String(string) => Literal::Text(Arc::new(Text::new(string, marks::TRUSTED))),
            other => Literal::Json(other),
        })
    }
}
