"""jinja2 set up as transformers sets it up, for comparison with the interpreter."""
import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    tags = {'generation'}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(('name:endgeneration',), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method('_text'), [], [], body).set_lineno(line)

    def _text(self, caller):
        return caller()


class Namespace(jinja2.utils.Namespace):
    def __init__(*args, **kwargs):
        attributes = dict(*args[1:], **kwargs)
        for name in attributes:
            Namespace.check(name)
        jinja2.utils.Namespace.__init__(args[0], attributes)

    def __setitem__(self, name, value):
        Namespace.check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def check(name):
        if isinstance(name, str) and name.startswith('_'):
            raise jinja2.exceptions.SecurityError('a name with an underscore')


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def prepared(message):
    """Without null members; reasoning under both of its names."""
    message = {k: v for k, v in message.items() if v is not None}
    for name in ('reasoning_content', 'thinking', 'reasoning'):
        if message.get(name) is not None:
            reasoning = message[name]
            return {'thinking': reasoning, **message, 'reasoning_content': reasoning}
    return message


class Reference:
    def __init__(self):
        env = jinja2.sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
        env.filters['tojson'] = to_json
        env.globals.update(raise_exception=raise_exception, namespace=Namespace,
                           dict=lambda *a, **k: dict(*a, **k),
                           strftime_now=lambda format: self.now.strftime(format))
        self.env = env

    def render(self, template, chat):
        """(True, text) or (False, message)."""
        self.now = datetime.datetime.fromisoformat(chat.get('now', '2026-01-15T12:34:56'))
        variables = {k: chat[k] for k in ('bos_token', 'eos_token') if chat.get(k) is not None}
        variables.update(chat.get('kwargs') or {})
        variables.update({k: chat.get(k) for k in ('tools', 'documents')})
        try:
            text = self.env.from_string(template).render(
                messages=[prepared(m) for m in chat['messages']],
                add_generation_prompt=chat.get('add_generation_prompt', False), **variables)
        except Exception as error:  # whatever Python raises is what the interpreter has to refuse
            return False, f'{type(error).__name__}: {error}'
        return True, text
