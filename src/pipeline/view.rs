//! A text on its way through a pipeline, with the place in the original that each byte comes from.

use std::ops::Range;

use crate::error::Result;
use crate::normalize::{Aligned, OriginRange, origin_of};
use crate::room;

