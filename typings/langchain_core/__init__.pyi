# The names that tooldecl/integrations/langchain.py uses, written against
# langchain-core 1.8; the session of nox checks that file against the package itself.
