//! Evaluates a template.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::methods;
use super::syntax::{Expression, Keyword, Literal, Operand, Pair, Statement};
use super::text::{Bail, Eval, Text};
use super::value::Value;
use crate::encode::marks;

/// What a template may evaluate, names and bytes of texts and items of lists that it looks at, for each byte
/// of its values and beside them. What takes more is left to Jinja, with its limits.
const MAX_GROWTH: usize = 64;
const MAX_SIZE: usize = 1 << 22;
/// Calls of macros inside of each other, and lists and dicts that it makes with others in them: they use
/// stack.
const MAX_CALLS: u32 = 12;
const MAX_NESTED: u32 = 256;
/// The longest range.
const MAX_RANGE: i64 = 1 << 16;

/// What happens after a statement.
#[derive(PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// A macro.
struct Macro<'t> {
    parameters: &'t [Expression],
    defaults: &'t [Expression],
    body: &'t [Statement],
}

/// A run of a template.
pub(super) struct Render<'t> {
    /// The conversation.
    globals: Vec<(&'t str, Value)>,
    /// Other variables of the caller.
    others: &'t dyn Fn(&str) -> Option<Eval<Value>>,
    /// What `strftime_now` returns for each format.
    dates: &'t FxHashMap<String, String>,
    /// What is left of the bytes and items that it may look at.
    size: usize,
    macros: FxHashMap<&'t str, Rc<Macro<'t>>>,
    /// The names that were set, scope by scope.
    names: Vec<(&'t str, Value)>,
    /// Where each scope begins in them, and the first scope that the present call sees beside the outermost.
    scopes: Vec<usize>,
    base: usize,
    out: Text,
    calls: u32,
    nested: u32,
}

impl<'t> Render<'t> {
    pub(super) fn new(
        globals: Vec<(&'t str, Value)>,
        others: &'t dyn Fn(&str) -> Option<Eval<Value>>,
        dates: &'t FxHashMap<String, String>,
        bytes: usize,
    ) -> Self {
        Render {
            globals,
            others,
            dates,
            size: MAX_SIZE + MAX_GROWTH * bytes,
            nested: 0,
            macros: FxHashMap::default(),
            names: Vec::new(),
            scopes: vec![0],
            base: 0,
            out: Text::with_capacity(bytes),
            calls: 0,
        }
    }

    /// The text of a template.
    pub(super) fn run(mut self, body: &'t [Statement]) -> Eval<Text> {
        match self.all(body)? {
            Flow::Next => Ok(self.out),
            Flow::Break | Flow::Continue => Err(Bail),
        }
    }

    fn all(&mut self, body: &'t [Statement]) -> Eval<Flow> {
        for statement in body {
            match self.statement(statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'t Statement) -> Eval<Flow> {
        self.charge(1)?;
        match statement {
            Statement::Output(shown) => {
                for expression in shown {
                    self.show(expression)?;
                }
            }
            Statement::If(test, body, others, otherwise) => {
                return self.branch(test, body, others, otherwise);
            }
            Statement::For(target, items, body, otherwise, test, false) => {
                return self.repeat(target, items, (body, otherwise), test.as_ref());
            }
            Statement::Assign(target, value) => {
                let value = self.value(value)?;
                self.assign(target, value)?;
            }
            Statement::AssignBlock(target, None, body) => {
                let text = self.captured(|render| render.all(body))?;
                self.assign(target, Value::text(text))?;
            }
            Statement::Macro(name, parameters, defaults, body) if self.scopes.len() == 1 => {
                self.macros.insert(name, Rc::new(Macro { parameters, defaults, body }));
            }
            Statement::Generation(body) => {
                let text = self.captured(|render| render.all(body))?;
                self.out.append(&text, marks::GENERATED);
            }
            Statement::Break() => return Ok(Flow::Break),
            Statement::Continue() => return Ok(Flow::Continue),
            Statement::For(.., true) | Statement::AssignBlock(_, Some(_), _) | Statement::Macro(..) => {
                return Err(Bail);
            }
        }
        Ok(Flow::Next)
    }

    /// Prints a value; the texts of a sum one by one.
    fn show(&mut self, expression: &'t Expression) -> Eval<()> {
        if let Expression::Add(left, right) = expression {
            let (texts, sum) = self.sum(left, right)?;
            texts.iter().for_each(|text| self.out.append(text, 0));
            return sum.shown().map(|text| self.out.append(&text, 0));
        }
        let text = self.value(expression)?.shown()?;
        self.out.append(&text, 0);
        Ok(())
    }

    /// Counts what is looked at.
    fn charge(&mut self, size: usize) -> Eval<()> {
        self.size = self.size.checked_sub(size).ok_or(Bail)?;
        Ok(())
    }

    /// Counts what becomes a part of a value, and refuses what could hold that value in turn, or changes with
    /// its use.
    fn check_parts<'v>(&mut self, parts: impl Iterator<Item = &'v Value>) -> Eval<()> {
        for part in parts {
            match part {
                Value::List(_) | Value::Dict(_) => self.nested += 1,
                Value::Iterable(_) | Value::Namespace(_) | Value::Loop(_) => return Err(Bail),
                _ => {}
            }
        }
        if self.nested > MAX_NESTED { Err(Bail) } else { Ok(()) }
    }

    fn branch(
        &mut self,
        test: &'t Expression,
        body: &'t [Statement],
        others: &'t [Statement],
        otherwise: &'t [Statement],
    ) -> Eval<Flow> {
        if self.value(test)?.is_true()? {
            return self.all(body);
        }
        for other in others {
            let Statement::If(test, body, ..) = other else { return Err(Bail) };
            if self.value(test)?.is_true()? {
                return self.all(body);
            }
        }
        self.all(otherwise)
    }

    fn repeat(
        &mut self,
        target: &'t Expression,
        items: &'t Expression,
        (body, otherwise): (&'t [Statement], &'t [Statement]),
        test: Option<&'t Expression>,
    ) -> Eval<Flow> {
        let mut items = self.value(items)?.items()?;
        self.charge(2 * items.len())?;
        if let Some(test) = test {
            let mut kept = Vec::new();
            for item in items.iter() {
                let is_kept = self.scoped(|render| {
                    render.assign(target, item.clone())?;
                    render.value(test)?.is_true()
                })?;
                if is_kept {
                    kept.push(item.clone());
                }
            }
            items = Rc::new(kept);
        }
        for index in 0..items.len() {
            let flow = self.scoped(|render| {
                render.assign(target, items[index].clone())?;
                render.set("loop", Value::Loop(Rc::new((items.clone(), index))));
                render.all(body)
            })?;
            if flow == Flow::Break {
                break;
            }
        }
        if items.is_empty() { self.scoped(|render| render.all(otherwise)) } else { Ok(Flow::Next) }
    }

    fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> Eval<T>) -> Eval<T> {
        self.scopes.push(self.names.len());
        let result = work(self)?;
        self.names.truncate(self.scopes.pop().unwrap_or(0));
        Ok(result)
    }

    /// What statements print, in a scope of their own.
    fn captured(&mut self, work: impl FnOnce(&mut Self) -> Eval<Flow>) -> Eval<Text> {
        let before = std::mem::take(&mut self.out);
        let flow = self.scoped(work)?;
        if flow != Flow::Next {
            return Err(Bail);
        }
        Ok(std::mem::replace(&mut self.out, before))
    }

    fn assign(&mut self, target: &'t Expression, value: Value) -> Eval<()> {
        if matches!(value, Value::Iterable(_) | Value::Loop(_)) {
            return Err(Bail); // which may change with their use
        }
        match (target, value) {
            (Expression::Name(name), value) => self.set(name, value),
            (Expression::Attribute(name, attribute), value) => {
                let Value::Namespace(names) = self.name(name)? else { return Err(Bail) };
                self.check_parts(std::iter::once(&value))?;
                names.borrow_mut().insert(attribute.clone(), value);
            }
            (Expression::Tuple(targets), Value::List(items)) if targets.len() == items.len() => {
                for (target, item) in targets.iter().zip(items.iter()) {
                    self.assign(target, item.clone())?;
                }
            }
            _ => return Err(Bail),
        }
        Ok(())
    }

    /// Sets a name in the innermost scope.
    fn set(&mut self, name: &'t str, value: Value) {
        let start = self.scopes.last().copied().unwrap_or(0);
        match self.names[start..].iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.names.push((name, value)),
        }
    }

    fn name(&mut self, name: &'t str) -> Eval<Value> {
        let (outermost, own) = match self.base {
            0 => (0, 0),
            base => (self.scopes[1], self.scopes[base]),
        };
        let visible = self.names[own..].iter().rev().chain(self.names[..outermost].iter().rev());
        if let Some((_, value)) = visible.chain(&self.globals).find(|(known, _)| *known == name) {
            return Ok(value.clone());
        }
        let known = ["range", "namespace", "raise_exception", "strftime_now", "dict", "cycler", "joiner"];
        match (self.others)(name) {
            Some(value) => {
                let value = value?;
                self.globals.push((name, value.clone()));
                Ok(value)
            }
            None if known.contains(&name) || self.macros.contains_key(name) => Ok(Value::Global),
            None => Ok(Value::Undefined),
        }
    }

    fn value(&mut self, expression: &'t Expression) -> Eval<Value> {
        let value = self.evaluated(expression)?;
        self.charge(1 + value.size())?;
        Ok(value)
    }

    fn evaluated(&mut self, expression: &'t Expression) -> Eval<Value> {
        Ok(match expression {
            Expression::TemplateData(Literal::Text(text)) | Expression::Const(Literal::Text(text)) => {
                Value::Text(text.clone())
            }
            Expression::TemplateData(Literal::Json(json)) | Expression::Const(Literal::Json(json)) => {
                Value::of_json(json.clone(), marks::TRUSTED)?
            }
            Expression::Name(name) => {
                self.charge(self.names.len())?;
                self.name(name)?
            }
            Expression::Getattr(value, name) => methods::attribute(&self.value(value)?, name)?,
            Expression::Getitem(value, key) => {
                let value = self.value(value)?;
                match &**key {
                    Expression::Slice(start, stop, step) => {
                        let mut bound = |bound: &'t Option<Box<Expression>>| match bound {
                            Some(bound) => self.value(bound)?.as_int().map(Some),
                            None => Ok(None),
                        };
                        methods::slice(&value, [bound(start)?, bound(stop)?, bound(step)?])?
                    }
                    key => methods::item(&value, &self.value(key)?)?,
                }
            }
            Expression::Call(function, arguments, named) => self.call(function, arguments, named)?,
            Expression::Filter(value, name, arguments, named) => {
                let (value, arguments) = (self.value(value)?, self.values(arguments)?);
                methods::filter(&value, name, &arguments, &self.named(named)?)?
            }
            Expression::Test(value, name, arguments) => {
                let (value, arguments) = (self.value(value)?, self.values(arguments)?);
                Value::Bool(methods::test(&value, name, &arguments)?)
            }
            Expression::List(items) | Expression::Tuple(items) => {
                let items = self.values(items)?;
                self.check_parts(items.iter())?;
                Value::list(items)
            }
            Expression::Dict(rows) => self.dict(rows)?,
            Expression::CondExpr(test, value, otherwise) => match (self.value(test)?.is_true()?, otherwise) {
                (true, _) => self.value(value)?,
                (false, Some(otherwise)) => self.value(otherwise)?,
                (false, None) => Value::Undefined,
            },
            Expression::Attribute(..) | Expression::Slice(..) => return Err(Bail),
            operation => self.operation(operation)?,
        })
    }

    fn operation(&mut self, expression: &'t Expression) -> Eval<Value> {
        Ok(match expression {
            Expression::And(left, right) => {
                let left = self.value(left)?;
                if left.is_true()? { self.value(right)? } else { left }
            }
            Expression::Or(left, right) => {
                let left = self.value(left)?;
                if left.is_true()? { left } else { self.value(right)? }
            }
            Expression::Not(value) => Value::Bool(!self.value(value)?.is_true()?),
            Expression::Compare(first, operands) => self.compare(first, operands)?,
            Expression::Concat(parts) => {
                let texts = self.values(parts)?.iter().map(Value::shown).collect::<Eval<Vec<_>>>()?;
                Value::text(Text::joined(&texts, &Text::default())?)
            }
            Expression::Add(left, right) => match self.sum(left, right)? {
                (mut texts, Value::Text(last)) if !texts.is_empty() => {
                    texts.push(last);
                    Value::text(Text::joined(&texts, &Text::default())?)
                }
                (_, sum) => sum,
            },
            Expression::Sub(left, right) => {
                let (left, right) = (self.value(left)?.as_int()?, self.value(right)?.as_int()?);
                Value::Int(left.checked_sub(right).ok_or(Bail)?)
            }
            Expression::Mod(left, right) => match (self.value(left)?.as_int()?, self.value(right)?.as_int()?)
            {
                (left @ 0.., right @ 1..) => Value::Int(left % right),
                _ => return Err(Bail),
            },
            Expression::Neg(value) => Value::Int(self.value(value)?.as_int()?.checked_neg().ok_or(Bail)?),
            _ => return Err(Bail),
        })
    }

    /// A sum. Of texts it is the last one, with those before it, so that they are copied once.
    fn sum(&mut self, left: &'t Expression, right: &'t Expression) -> Eval<(Vec<Arc<Text>>, Value)> {
        let (mut first, mut others) = (left, Vec::with_capacity(8));
        others.push(right);
        while let Expression::Add(left, right) = first {
            others.push(right);
            first = left;
        }
        let mut sum = self.value(first)?;
        let mut texts = Vec::with_capacity(others.len());
        while let Some(right) = others.pop() {
            match (sum, self.value(right)?) {
                (Value::Text(left), Value::Text(right)) => {
                    texts.push(left);
                    sum = Value::Text(right);
                }
                _ if !texts.is_empty() => return Err(Bail),
                (Value::List(left), Value::List(right)) => {
                    self.charge(left.len() + right.len())?;
                    sum = Value::list([&left[..], &right[..]].concat());
                }
                (left, right) => sum = Value::Int(left.as_int()?.checked_add(right.as_int()?).ok_or(Bail)?),
            }
        }
        Ok((texts, sum))
    }

    fn values(&mut self, expressions: &'t [Expression]) -> Eval<Vec<Value>> {
        expressions.iter().map(|expression| self.value(expression)).collect()
    }

    fn named(&mut self, keywords: &'t [Keyword]) -> Eval<Vec<(&'t str, Value)>> {
        keywords.iter().map(|Keyword::Keyword(name, value)| Ok((&**name, self.value(value)?))).collect()
    }

    fn dict(&mut self, rows: &'t [Pair]) -> Eval<Value> {
        let mut dict = super::value::Dict::default();
        for Pair::Pair(key, value) in rows {
            let Value::Text(key) = self.value(key)? else { return Err(Bail) };
            let mut runs = key.runs();
            let mark = runs.next().map_or(marks::TRUSTED, |(_, mark)| mark);
            if runs.next().is_some() {
                return Err(Bail);
            }
            dict.insert(key.string.clone(), (mark, self.value(value)?));
        }
        self.check_parts(dict.values().map(|(_, value)| value))?;
        Ok(Value::Dict(Rc::new(dict)))
    }

    fn compare(&mut self, first: &'t Expression, operands: &'t [Operand]) -> Eval<Value> {
        let mut left = self.value(first)?;
        for Operand::Operand(operator, right) in operands {
            let right = self.value(right)?;
            let holds = match &**operator {
                "eq" => left.equals(&right)?,
                "ne" => !left.equals(&right)?,
                "in" => methods::contains(&right, &left)?,
                "notin" => !methods::contains(&right, &left)?,
                "lt" => left.as_int()? < right.as_int()?,
                "lteq" => left.as_int()? <= right.as_int()?,
                "gt" => left.as_int()? > right.as_int()?,
                "gteq" => left.as_int()? >= right.as_int()?,
                _ => return Err(Bail),
            };
            if !holds {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn call(
        &mut self,
        function: &'t Expression,
        arguments: &'t [Expression],
        named: &'t [Keyword],
    ) -> Eval<Value> {
        match function {
            Expression::Getattr(value, name) if named.is_empty() => {
                let (value, arguments) = (self.value(value)?, self.values(arguments)?);
                methods::method(&value, name, &arguments)
            }
            Expression::Name(name) if matches!(self.name(name)?, Value::Global) => {
                let (arguments, named) = (self.values(arguments)?, self.named(named)?);
                match self.macros.get(&**name).cloned() {
                    Some(called) => self.call_macro(&called, arguments, named),
                    None => self.call_global(name, &arguments, named),
                }
            }
            _ => Err(Bail),
        }
    }

    fn call_global(&mut self, name: &str, arguments: &[Value], named: Vec<(&'t str, Value)>) -> Eval<Value> {
        match (name, arguments, &named[..]) {
            ("namespace", [], _) => {
                self.check_parts(named.iter().map(|(_, value)| value))?;
                let names = named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                Ok(Value::Namespace(Rc::new(std::cell::RefCell::new(names))))
            }
            ("strftime_now", [Value::Text(format)], []) => {
                let date = self.dates.get(&format.string).ok_or(Bail)?;
                Ok(Value::text(Text::new(date.clone(), marks::TRUSTED)))
            }
            ("range", [Value::Int(end)], []) => range(0, *end, 1),
            ("range", [Value::Int(start), Value::Int(end)], []) => range(*start, *end, 1),
            ("range", [Value::Int(start), Value::Int(end), Value::Int(step)], []) => {
                range(*start, *end, *step)
            }
            _ => Err(Bail),
        }
    }

    fn call_macro(
        &mut self,
        called: &Macro<'t>,
        arguments: Vec<Value>,
        named: Vec<(&'t str, Value)>,
    ) -> Eval<Value> {
        let Macro { parameters, defaults, body } = *called;
        self.calls += 1;
        if arguments.len() > parameters.len() || self.calls > MAX_CALLS {
            return Err(Bail);
        }
        let base = std::mem::replace(&mut self.base, self.scopes.len());
        let (mut arguments, mut used) = (arguments.into_iter(), 0);
        let text = self.captured(|render| {
            for (at, parameter) in parameters.iter().enumerate() {
                let Expression::Name(name) = parameter else { return Err(Bail) };
                let own = named.iter().find(|(known, _)| known == name);
                let default = (at + defaults.len()).checked_sub(parameters.len());
                let value = match (arguments.next(), own, default.and_then(|at| defaults.get(at))) {
                    (Some(value), None, _) => value,
                    (None, Some((_, value)), _) => {
                        used += 1;
                        value.clone()
                    }
                    (None, None, Some(default)) => render.value(default)?,
                    (None, None, None) => Value::Undefined,
                    (Some(_), Some(_), _) => return Err(Bail),
                };
                render.assign(parameter, value)?;
            }
            if used == named.len() { render.all(body) } else { Err(Bail) }
        })?;
        (self.base, self.calls) = (base, self.calls - 1);
        Ok(Value::text(text))
    }
}

fn range(start: i64, end: i64, step: i64) -> Eval<Value> {
    let len = i128::from(end) - i128::from(start);
    let every = usize::try_from(step.unsigned_abs()).unwrap_or(0);
    if len.abs() > i128::from(MAX_RANGE) || every == 0 {
        return Err(Bail);
    }
    let numbers: Vec<Value> = match step > 0 {
        true => (start..end).step_by(every).map(Value::Int).collect(),
        false => (end..start).rev().step_by(every).map(|number| Value::Int(number + 1)).collect(),
    };
    Ok(Value::Iterable(Rc::new(numbers)))
}
