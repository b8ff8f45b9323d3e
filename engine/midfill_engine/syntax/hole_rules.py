"""Which placeholders stand for something that is still to be written, and which are right as they are.

`pass` and `...` are holes as the whole body of a function, `pass` in `if`, `elif`, `else`, `for`, `with`, too.
They are right, and no holes: in `except`, `finally`, `while` (a busy wait), `case` and `class`; in a stub file; in
functions that are abstract, an overload or part of a Protocol; before a remark on the same line; and as a value.
Of empty braces those of named functions and of `if`, `else` and `for` are holes; not those of `catch`, `while`,
constructors (their parameters may say all), types, or functions given as values, which do nothing on purpose.
"""

from __future__ import annotations

from tree_sitter import Node

from midfill_engine.syntax.source import ancestors

PYTHON_BODIES = frozenset(
    ["function_definition", "if_statement", "elif_clause", "else_clause", "for_statement", "with_statement"]
)
BRACE_BODIES = frozenset(["block", "statement_block", "compound_statement", "function_body", "body_statement"])
BRACE_OWNERS = frozenset(
    [
        "else_clause",
        "enhanced_for_statement",
        "for_in_statement",
        "for_statement",
        "foreach_statement",
        "function_declaration",
        "function_definition",
        "function_item",
        "generator_function_declaration",
        "if_expression",
        "if_statement",
        "local_function_statement",
        "method_declaration",
        "method_definition",
        "variable_declarator",
    ]
)
FUNCTION_VALUES = frozenset(["arrow_function", "function_expression", "lambda_expression"])
ABSTRACT_DECORATORS = ("abstractmethod", "abstractproperty", "overload")
PROTOCOLS = ("Protocol",)


def is_placeholder_body(statement: Node) -> bool:
    """Whether a Python statement is all there is of a body that wants more."""
    block = statement.parent
    if block is None or block.type != "block" or block.parent is None:
        return False
    others = [child for child in block.named_children if child != statement and not _is_prose(child)]
    if _has_remark(statement):
        return False
    return not others and block.parent.type in PYTHON_BODIES and not is_abstract(statement)


def _has_remark(statement: Node) -> bool:
    """Whether a comment on the same line says why nothing is done."""
    following = statement.next_sibling or (statement.parent.next_sibling if statement.parent is not None else None)
    return (
        following is not None and following.type == "comment" and following.start_point.row == statement.end_point.row
    )


def is_abstract(node: Node) -> bool:
    """Whether the function that a node is in is meant to have no body of its own."""
    for function in ancestors(node):
        if function.type == "function_definition":
            return _has_abstract_decorator(function) or _is_of_protocol(function)
    return False


def is_empty_body(body: Node) -> bool:
    """Whether these empty braces are a body that wants more."""
    owner = body.parent
    if body.type not in BRACE_BODIES or owner is None:
        return False
    if owner.type in FUNCTION_VALUES:
        return owner.parent is not None and owner.parent.type in BRACE_OWNERS
    name = owner.child_by_field_name("name")
    return owner.type in BRACE_OWNERS and (name is None or name.text not in (b"constructor", b"__construct"))


def _has_abstract_decorator(function: Node) -> bool:
    decorated = function.parent
    if decorated is None or decorated.type != "decorated_definition":
        return False
    told = [_text(child) for child in decorated.children if child.type == "decorator"]
    return any(word in text for text in told for word in ABSTRACT_DECORATORS)


def _is_of_protocol(function: Node) -> bool:
    for owner in ancestors(function):
        if owner.type == "class_definition":
            bases = owner.child_by_field_name("superclasses")
            return bases is not None and any(word in _text(bases) for word in PROTOCOLS)
    return False


def _is_prose(node: Node) -> bool:
    """A comment or a docstring."""
    is_docstring = node.type == "string" or (
        node.type == "expression_statement" and [child.type for child in node.children] == ["string"]
    )
    return is_docstring or node.type == "comment"


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")
