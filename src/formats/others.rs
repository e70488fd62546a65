//! Files that lie beside tokenizers, and are none.

/// What a file is that begins with `head`, and what to do instead; `None` for nothing that is known.
pub(super) fn other(head: &[u8]) -> Option<&'static str> {
    let begins = |bytes: &[u8]| head.starts_with(bytes);
    if head.len() > 8 && head[4..].starts_with(b"\0\0\0\0{") {
        Some("a safetensors file, which holds weights: name the tokenizer.json beside it")
    } else if begins(b"PK\x03\x04") {
        Some("a zip archive, as PyTorch's weights are: name the tokenizer.json beside it")
    } else if matches!(head, [0x80, 2..=5, ..]) {
        Some("a pickle, which could run any program: save the tokenizer in another format")
    } else if is_word_piece(head) {
        Some("a vocab.txt of WordPiece, which is no BPE: use the library tokenizers")
    } else if is_piece_list(head) {
        Some(
            "a .vocab of SentencePiece, which lists the pieces of a model for people: name the .model beside it",
        )
    } else {
        other_json(head)
    }
}

/// What a JSON object is by its first field.
fn other_json(head: &[u8]) -> Option<&'static str> {
    let fields = head.trim_ascii_start().strip_prefix(b"{")?;
    let mut names = serde_json::Deserializer::from_slice(fields).into_iter::<String>();
    let name = names.next()?.ok()?;
    let value = fields[names.byte_offset()..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    if value.first()?.is_ascii_digit() {
        return Some("a vocabulary: name the folder that has it as vocab.json beside merges.txt");
    }
    let is_other = |kind: &&[u8]| name == "type" && value.starts_with(kind);
    let kinds: [&[u8]; 3] = [b"\"Unigram\"", b"\"WordPiece\"", b"\"WordLevel\""];
    kinds
        .iter()
        .any(is_other)
        .then_some("a model of type Unigram, WordPiece or WordLevel: toksmith reads BPE")
}

/// The whole lines of the beginning of a file.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split_inclusive(|&byte| byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Whether each line is a token, up to one that every WordPiece has.
fn is_word_piece(head: &[u8]) -> bool {
    let mut tokens = lines(head).take_while(|line| !line.is_empty() && !line.contains(&b' '));
    tokens.any(|line| matches!(line, b"[PAD]" | b"[UNK]" | b"[CLS]"))
}

/// Whether at least two lines are a piece, a tab, and its score.
fn is_piece_list(head: &[u8]) -> bool {
    let is_row = |line: &[u8]| {
        let mut parts = line.split(|&byte| byte == b'\t');
        let score = parts.next().filter(|piece| !piece.is_empty()).and(parts.next());
        parts.next().is_none()
            && score.and_then(|score| str::from_utf8(score).ok()?.parse::<f64>().ok()).is_some()
    };
    lines(head).count() > 1 && lines(head).take(2).all(is_row)
}
