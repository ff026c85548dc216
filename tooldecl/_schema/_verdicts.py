"""
What the validator of declared types can find wrong, by the type of its error, in words.
"""

from __future__ import annotations


KIND_ERRORS = {
    "a date such as 2024-12-31": "date_type",
    "a date and time such as 2024-12-31T23:59:00Z": "datetime_type",
    "a decimal number": "decimal_type",
    "a duration such as PT1H30M": "time_delta_type",
    "a fraction such as 1/2": "fraction_type",
    "a list": (
        "list_type tuple_type set_type frozen_set_type iterable_type deque_type "
        "named_tuple_type"
    ),
    "a number": "float_type",
    "a time such as 23:59:00": "time_type",
    "a URL": "url_type",
    "a UUID": "uuid_type",
    "an integer": "int_type int_from_float",
    "an object": (
        "dict_type mapping_type model_type model_attributes_type dataclass_type "
        "dataclass_exact_type arguments_type counter_type frozen_dict_type "
        "ordered_dict_type"
    ),
    "null": "none_required",
    "text": "string_type bytes_type json_type",
    "true or false": "bool_type",
}
EXPECTED = {name: kind for kind, names in KIND_ERRORS.items() for name in names.split()}

# Texts that were read and found to be none of what they should be.
UNREADABLE = {
    "bool_parsing": "true or false",
    "bytes_invalid_encoding": "text in the declared encoding",
    "date_from_datetime_inexact": "a date without a time",
    "date_from_datetime_parsing": "a date such as 2024-12-31",
    "date_parsing": "a date such as 2024-12-31",
    "datetime_from_date_parsing": "a date and time such as 2024-12-31T23:59:00Z",
    "datetime_object_invalid": "a date and time such as 2024-12-31T23:59:00Z",
    "datetime_parsing": "a date and time such as 2024-12-31T23:59:00Z",
    "decimal_parsing": "a decimal number",
    "float_parsing": "a number",
    "fraction_parsing": "a fraction such as 1/2",
    "int_parsing": "an integer",
    "int_parsing_size": "an integer",
    "json_invalid": "JSON",
    "time_delta_parsing": "a duration such as PT1H30M",
    "time_parsing": "a time such as 23:59:00",
    "url_parsing": "a URL",
    "url_syntax_violation": "a URL",
    "uuid_parsing": "a UUID",
    "uuid_version": "a UUID of another version",
}

# Rules with their figures, which come from the declaration and never from the call.
RULES = {
    "bytes_too_long": "takes at most {max_length} bytes.",
    "bytes_too_short": "needs at least {min_length} bytes.",
    "date_future": "needs a date in the future.",
    "date_past": "needs a date in the past.",
    "datetime_future": "needs a time in the future.",
    "datetime_past": "needs a time in the past.",
    "decimal_max_digits": "takes at most {max_digits} digits.",
    "decimal_max_places": "takes at most {decimal_places} decimal places.",
    "decimal_whole_digits": "takes at most {whole_digits} digits before the point.",
    "finite_number": "needs a finite number.",
    "greater_than": "must be above {gt}.",
    "greater_than_equal": "must be at least {ge}.",
    "less_than": "must be below {lt}.",
    "less_than_equal": "must be at most {le}.",
    "multiple_of": "must be a multiple of {multiple_of}.",
    "recursion_depth_exceeded": "is nested too deep.",
    "set_item_not_hashable": "takes no lists or objects here.",
    "string_not_ascii": "takes only ASCII characters.",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "string_too_long": "takes at most {max_length} characters.",
    "string_too_short": "needs at least {min_length} characters.",
    "timezone_aware": "needs a time zone.",
    "timezone_naive": "takes no time zone.",
    "too_long": "takes at most {max_length} items.",
    "too_short": "needs at least {min_length} items.",
    "url_scheme": "needs a URL that begins with {expected_schemes}.",
    "url_too_long": "takes a URL of at most {max_length} characters.",
}

MISSING_TYPES = {
    "missing",
    "missing_argument",
    "missing_keyword_only_argument",
    "missing_positional_only_argument",
}
UNKNOWN_TYPES = {
    "extra_forbidden",
    "unexpected_keyword_argument",
    "unexpected_positional_argument",
}
