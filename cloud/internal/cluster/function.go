package cluster

import (
	"fmt"
	"reflect"

	"google.golang.org/grpc/codes"
)

// RegisterFunction makes a function known or changes it.
func (c *Cluster) RegisterFunction(function *Function) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what := "register function " + function.Name
	old := c.functions.get(function.Name)
	if old == nil && c.functions.len() >= FunctionsMax {
		return 0, fail(codes.ResourceExhausted, what,
			fmt.Sprintf("there are %d functions, as many as may be", FunctionsMax), "delete those that are not used")
	}
	instances := c.count(function.Name)
	if old != nil && reflect.DeepEqual(old, function) {
		return instances, nil
	}
	asksOther := old != nil && (!reflect.DeepEqual(old.Query, function.Query) || old.Exclusive != function.Exclusive)
	if asksOther && instances > 0 {
		return 0, fail(codes.FailedPrecondition, what,
			fmt.Sprintf("%d instances have boards by its present query", instances),
			"delete them, or register another function beside it")
	}
	edit := c.edit()
	edit.functions[function.Name] = function
	if err := edit.commit(); err != nil {
		return 0, err
	}
	c.log.Info("function registered", "function", function.Name)
	return instances, nil
}

// count is the number of a function's instances.
func (c *Cluster) count(function string) int {
	count := 0
	for _, instance := range c.instances.all() {
		if instance.Function == function {
			count++
		}
	}
	return count
}

// DeleteFunction forgets a function.
func (c *Cluster) DeleteFunction(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.functions.get(name) == nil {
		return unknown("function", name)
	}
	if count := c.count(name); count > 0 {
		return fail(codes.FailedPrecondition, "delete function "+name,
			fmt.Sprintf("it has %d instances", count), "delete those first")
	}
	edit := c.edit()
	edit.functions[name] = nil
	if err := edit.commit(); err != nil {
		return err
	}
	c.log.Info("function deleted", "function", name)
	return nil
}

// Functions is up to `most` functions behind a name, how many instances each has, and whether there are more.
func (c *Cluster) Functions(after string, most int) (page []*Function, instances []int, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	counts := map[string]int{}
	for _, instance := range c.instances.all() {
		counts[instance.Function]++
	}
	for name, function := range c.functions.after(after) {
		if len(page) == most {
			return page, instances, true
		}
		page = append(page, function)
		instances = append(instances, counts[name])
	}
	return page, instances, false
}
