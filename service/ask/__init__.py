"""A question's path, in this order: guard_input, retrieve, grade, answer, guard_output.

`pipeline.ask` is where they meet. `quote` answers without a model; `segments` splits text into
sentences for the stages that quote it; `prompts` holds every prompt and every fixed sentence.
"""
